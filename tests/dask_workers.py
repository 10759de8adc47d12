"""The two worker processes of Dask that its tests ask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dask
from distributed import Client, LocalCluster


@contextmanager
def two_workers() -> Iterator[Client]:
    """Their client. They are forked from a process that has imported Dask: each need not do it again."""
    settings = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL")
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}),
        LocalCluster(**settings) as cluster,
        Client(cluster, timeout="20s") as client,
    ):
        client.wait_for_workers(2, timeout=30)
        yield client
