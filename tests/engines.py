"""An engine for tests: what a bad day on a cluster does to blocks, it does on purpose."""

from __future__ import annotations

import pickle
import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tenfold.core.engine import Summarize
from tenfold.core.merge_tree import MergeTree


class Lost(Exception):
    """A worker that vanished before its block was done."""


class Shuffled:
    """Blocks in random order, on several threads, some late, some lost and tried again, all pickled."""

    def __init__(self, seed: int = 0, threads: int = 3, delay: float = 0.0005, lose: float = 0.2) -> None:
        self.seed, self.threads, self.delay, self.lose = seed, threads, delay, lose

    def run(self, summarize: Summarize, source: Any) -> Any:
        chance, tree = random.Random(self.seed), MergeTree()
        jobs = [(i, part, chance.random()) for i, part in enumerate(source.parts())]
        chance.shuffle(jobs)
        with ThreadPoolExecutor(self.threads) as pool:
            for done in [pool.submit(self._job, summarize, source, tree, *job) for job in jobs]:
                done.result()
        return tree.result()

    def _job(self, summarize: Summarize, source: Any, tree: MergeTree, i: int, part: Any, luck: float) -> None:
        time.sleep(self.delay * luck)
        for attempt in range(2):
            try:
                stats = summarize(source.load(part))
                if attempt == 0 and luck < self.lose:
                    raise Lost(i)  # after the work was done: nothing of it may have stayed behind
            except Lost:
                continue
            break
        tree.put(i, pickle.loads(pickle.dumps(stats)))

    def __repr__(self) -> str:
        return f"Shuffled(seed={self.seed})"
