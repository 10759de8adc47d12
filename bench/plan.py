"""The words of the benchmark: workloads, contenders, and the rows and findings that come out of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np

from .measure import Meter

Data = Mapping[str, np.ndarray]
Quality = dict[str, float]
Run = Callable[[Data, Meter], Quality]
Role = Literal["tenfold", "peer", "reference"]
BUSY_SHARE = 0.2  # of the machine, used by other programs: above it times are doubtful


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    shrink: int = 1
    slow: bool = False
    peers: bool = True
    tenfold: bool = True
    peer: str = ""
    threads: int = 2
    repeats: int = 3
    against: str = ""  # the folder of another version of Tenfold, which races as a peer

    def admits(self, contender: Contender) -> bool:
        if contender.slow and not self.slow:
            return False
        if contender.library == "tenfold":
            return self.tenfold
        return self.peers and self.peer in contender.name


@dataclass(frozen=True)
class Contender:
    """One way of doing a workload. Only the roles `tenfold` and `peer` enter the ratio.

    `library` is the module it needs; `processes` marks a contender that works in several processes, whose
    memory is therefore not reported; `slow` ones run only with --slow.
    """

    name: str
    library: str
    run: Run
    role: Role = "peer"
    slow: bool = False
    processes: bool = False


@dataclass(frozen=True)
class Judgement:
    """Which quality figure decides whether two results are equally good, and how close they must be."""

    key: str
    higher: bool
    tolerance: float  # relative to the peer's figure

    def worse(self, ours: Quality, theirs: Quality) -> bool:
        gap = theirs[self.key] - ours[self.key] if self.higher else ours[self.key] - theirs[self.key]
        return not gap <= self.tolerance * abs(theirs[self.key])  # a NaN is worse than anything


@dataclass(frozen=True)
class OwnCost:
    """A bound on Tenfold's time as a multiple of a reference contender of its own."""

    reference: str
    at_most: float


@dataclass(frozen=True)
class Workload:
    """A race: data made once by `make(shrink)`, and the contenders that get it."""

    name: str
    about: str
    make: Callable[[int], Data]
    contenders: tuple[Contender, ...]
    judgement: Judgement
    own_cost: OwnCost | None = None

    def contender(self, name: str) -> Contender:
        return next(c for c in self.contenders if c.name == name)


@dataclass
class Row:
    """What one contender did: best times in seconds, memory in MB beyond the data."""

    workload: str
    who: str
    library: str
    role: Role = "peer"
    status: str = "ok"
    fit_s: float | None = None
    predict_s: float | None = None
    quality: Quality = field(default_factory=dict)
    memory_mb: float | None = None
    repeats: int = 0
    notes: list[str] = field(default_factory=list)
    busy: float = 0.0  # part of the machine that other programs used meanwhile
    ratio: float | None = None
    predict_ratio: float | None = None
    memory_ratio: float | None = None

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def disturbed(self) -> bool:
        return self.busy > BUSY_SHARE

    def record(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Finding:
    """One figure that has a target: `met` is None where the figure is only told.

    `doubtful` marks times taken on a busy machine. They favour whoever waits least for its own threads, so
    that neither a met nor a missed target counts.
    """

    workload: str
    text: str
    value: float
    target: str = ""
    met: bool | None = None
    doubtful: bool = False

    def record(self) -> dict[str, Any]:
        return asdict(self)


@dataclass
class Report:
    """The outcome of one workload."""

    rows: list[Row] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """A line of the catalog: anything with a name that produces a report."""

    name: str
    about: str
    run: Callable[[Options], Report]


def build(path: str, **parameters: Any) -> Any:
    """An estimator from its dotted path; imported here so that a process loads only its own library."""
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(**parameters)


def fit_predict(
    path: str,
    score: Callable[[Data, Any, Any], Quality],
    *,
    method: str | None = "predict",
    target: bool = True,
    parameters: Callable[[Data], dict[str, Any]] = lambda data: {},
    **fixed: Any,
) -> Run:
    """The usual contender: fit on X (and y), apply `method` to Xt, score the outcome."""

    def run(data: Data, meter: Meter) -> Quality:
        model = build(path, **fixed, **parameters(data))
        meter.fit(model.fit, data["X"], *((data["y"],) if target else ()))
        output = meter.predict(getattr(model, method), data["Xt"]) if method else None
        return score(data, model, output)

    return run


def only_when_slow(contenders: tuple[Contender, ...], *names: str) -> tuple[Contender, ...]:
    """The same contenders, the named ones kept for --slow."""
    return tuple(replace(c, slow=c.slow or c.name in names) for c in contenders)
