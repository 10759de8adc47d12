"""What the tests share: every public learner, discovered, in the settings it is tried in."""

from __future__ import annotations

import functools
import gc
import inspect
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import MISSING
from typing import Any

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

import tenfold
from tenfold.base.estimator import Estimator
from tenfold.core.params import domains

# Drawn cases are the same in every run; `--hypothesis-profile=thorough` draws more of them.
settings.register_profile("suite", max_examples=25, derandomize=True, database=None, deadline=None)
settings.register_profile("thorough", settings.get_profile("suite"), max_examples=200)
settings.load_profile("suite")

# A run starts some fifty processes, its two workers among them: what they import is compiled once, also where bytecode is not wanted.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell that starts the suite in the background has it ignore Ctrl-C, and so would the processes whose interruption is tested.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.fsync = lambda number: None  # runs save their state thousands of times, and nothing here is to outlive a loss of power

# Begun first, so that no worker is left with one of them while the others have nothing to do.
LONG = (
    "test_laws.py", "test_sklearn.py", "test_native_memory.py", "test_bad_input.py", "test_bad_kinds.py", "test_bad_shapes.py",
    "test_dask.py", "test_decisions.py", "test_select_command.py", "test_select_estimator.py", "test_workers.py",
)  # fmt: skip


def pytest_collection() -> None:
    gc.disable()  # what is collected stays: it is looked through once, and not again and again as it grows, nor in any test


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONG)  # the rest in its order


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.enable()
    if "PYTEST_XDIST_WORKER" in os.environ:  # processes share the cores: threads of BLAS and OpenMP, ours aside, would wait for one another
        threadpool_limits(1)


def pytest_runtest_teardown() -> None:
    """Once a test has imported pyplot, pictures are its figures; they are closed, and no window is opened."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


def plain_id(case: Any) -> str:
    """A case as the name of a test; functions without where they lie in memory, which differs between processes."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(case))


def of_each(cases: Iterable[Any], check: Callable[[Any], None]) -> None:
    """Checks all of them, and tells of each that fails."""
    failed = []
    for case in cases:
        try:
            check(case)
        except (Exception, BaseExceptionGroup, pytest.fail.Exception) as failure:
            failure.add_note(f"in the case {case!r}"[:300])
            failed.append(failure)
    if failed:
        raise BaseExceptionGroup(f"{len(failed)} of the cases", failed)


def together(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, with all cases in one test: for such as take less time than a test of their own costs."""
    keys, listed = names.replace(",", " ").split(), list(cases)

    def over_all(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_of_them(**given: Any) -> None:
            of_each(listed, lambda case: test(**given, **dict(zip(keys, case if len(keys) > 1 else [case], strict=True))))

        signature = inspect.signature(test)
        kept = [one for name, one in signature.parameters.items() if name not in keys]
        all_of_them.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return all_of_them

    return over_all


OTHERS = ("anything", "documents")  # what learners take that are not asked with rows of numbers


def public_classes() -> dict[str, Any]:
    """Every public learner of rows that stands alone, by name."""
    found = {name: getattr(tenfold, name) for name in tenfold.PUBLIC if name[0].isupper()}
    return {
        name: value
        for name, value in found.items()
        if isinstance(value, type) and issubclass(value, Estimator) and name != "Pipeline" and value.accepts not in OTHERS
    }


def plain(name: str) -> Any:
    """A learner with nothing but what its class requires."""
    cls: Any = public_classes()[name]
    needed = [key for key, domain in domains(cls).items() if domain.default is MISSING]
    return cls(**{key: cls._examples()[0][key] for key in needed})


def first(cls: Any) -> Any:
    """A learner in the first of its examples."""
    return cls(**cls._examples()[0])


def small(cls: Any) -> Any:
    """A learner in the parameters for a table of a few rows."""
    return cls(**cls._small_example())


def learners() -> list[Any]:
    """Every public learner in its settings, and pipelines of them."""
    single = [cls(**setting) for cls in public_classes().values() for setting in cls._examples()]
    return single + pipelines()


def pipelines() -> list[Any]:
    scale = tenfold.StandardScaler
    return [
        tenfold.make_pipeline(scale(), tenfold.Ridge()),
        tenfold.make_pipeline(scale(), tenfold.PCA(2), tenfold.LogisticRegression(tol=1e-12)),
        tenfold.make_pipeline(scale(), tenfold.KMeans(3, random_state=0)),
        tenfold.make_pipeline(scale(), tenfold.PCA(2)),
    ]


def label(learner: Any) -> str:
    """A name for a test."""
    return repr(learner).replace("\n", " ")[:60]


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """The next runs of `select` are interrupted after so many units of work; none are after None."""
    from tenfold.selection.race.race import Race

    work = Race._record

    def arrange(units: int | None) -> None:
        def heard(self: Race, number: int, held: Any, unit: Any) -> None:
            if len(self.done) == units:
                raise KeyboardInterrupt
            work(self, number, held, unit)

        monkeypatch.setattr(Race, "_record", heard)

    return arrange
