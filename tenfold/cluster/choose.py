"""How many clusters: what each rule says, and one recommendation with its reason."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.cluster.evidence import Evidence, evidence_of
from tenfold.cluster.kmeans import KMeans
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learning import Learner
from tenfold.core.random import generator, seed_of
from tenfold.core.threads import single_blas
from tenfold.solve.sketch import Sample

ROWS, CELLS, LEAST_ROWS = 3000, 1 << 18, 500  # looked at: so many, of wide tables as many as make so many cells, but at least these
IN_A_CLUSTER = 4  # rows of a cluster on average, at least, so that halves have two
SURE = 2.0  # standard errors by which the gap must exceed that of one cluster
STRONG = 0.75  # prediction strength from where clusters are found again


@dataclass(frozen=True)
class Said:
    """What one rule says; `clusters` is None where it says nothing."""

    rule: str
    clusters: int | None
    why: str


@dataclass(frozen=True, repr=False)
class ClusterChoice:
    """The number of clusters that is recommended, and why; `print` shows all rules, `plot()` draws the curves.

    clusters       the recommended number: 1 where there are no groups
    why            the reason, in a sentence
    rules          what each rule says
    centers        (clusters, p): k-means of that number, on the rows that were looked at
    evidence       the curves over k = 1, ..., most; None where there are too few different rows
    rows, looked   weight of all rows, and how many different ones were looked at
    """

    clusters: int
    why: str
    rules: tuple[Said, ...]
    centers: Array
    evidence: Evidence | None
    rows: float
    looked: int
    all_rows: bool

    @property
    def table(self) -> dict[str, Array]:
        """The curves by name; row i is of i + 1 clusters."""
        one = self.evidence
        if one is None:
            return {"clusters": np.ones(1, dtype=np.int64)}
        return {
            "clusters": np.arange(1, one.most + 1), "within": one.within, "held out": one.held_out, "silhouette": one.silhouette,
            "gap": one.gap, "gap error": one.gap_error, "strength": one.strength, "BIC": one.bic,
        }  # fmt: skip

    def said(self, rule: str) -> int | None:
        """The number by the rule whose name begins so."""
        return next(one.clusters for one in self.rules if one.rule.startswith(rule))

    def __str__(self) -> str:
        lines = [f"CLUSTERS  {self.clusters}", f"WHY       {self.why}", ""]
        if self.evidence is not None:
            table = self.table
            lines.append("  ".join(f"{name:>10}" for name in table))
            for row in zip(*table.values(), strict=True):
                mark = "   <" if row[0] == self.clusters else ""
                cells = [f"{int(row[0]):>10}", *(_cell(name, value) for name, value in zip(list(table)[1:], row[1:], strict=True))]
                lines.append("  ".join(cells) + mark)
            lines.append("")
        width = max((len(one.rule) for one in self.rules), default=0)
        lines += [f"{one.rule:<{width}}  {'-' if one.clusters is None else one.clusters:>4}  {one.why}" for one in self.rules]
        if not self.all_rows:
            lines += ["", f"{self.looked:,} different rows were looked at, drawn by chance from {self.rows:,.0f}"]
        return "\n".join(lines).rstrip()

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """The curves as a picture: scatter within, gap, silhouette and prediction strength."""
        from tenfold.draw.groups import draw_cluster_choice

        return draw_cluster_choice(self, axes)


def choose_clusters(X: Any, most: int = 12, *, sample_weight: Any = None, random_state: Any = 0) -> ClusterChoice:
    """How many clusters rows have, by every rule in use, and one recommendation with its reason; it may be one: no groups.

    For k = 1, ..., most rows are grouped by k-means, as are halves of them and tables without groups. A number is supported if

        gap(k) − gap(1) > 2 standard errors      W falls more than for rows spread evenly over the same box (gap statistic), and
        strength(k) ≥ 0.75                       clusters of one half of the rows are found again by the other (prediction strength)

    and of those the one of the largest silhouette · √strength is recommended; 1 where none is. On 150 tables with a known number of
    groups that played no part in the choice of this rule it is right for 93 %, and for all 36 that have no groups; prediction strength
    alone for 91 % and 31 of these, the gap statistic for 84 % and all, the silhouette for 67 % and none (`python -m bench.choose`).

    Columns should have comparable scales. X may be anything that a fit takes: arrays, sparse rows, frames, paths of files, streams,
    Dask collections. Of long tables 3,000 different rows, drawn by a hash, are looked at. Cost O(rows · p · most²) for some thirty tables.
    Weights count copies of rows. References: Tibshirani, Walther & Hastie 2001; Tibshirani & Walther 2005; Rousseeuw 1987.

    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(150, 2)) + 8 * np.repeat(np.eye(3, 2), 50, axis=0)
    >>> found = tenfold.choose_clusters(X, most=6)
    >>> found.clusters, found.said("gap"), found.said("square root")
    (3, 3, 9)
    """
    if not isinstance(most, (int, np.integer)) or isinstance(most, bool) or not 1 <= most <= 100:
        raise BadParameter(f"choose_clusters(most={most!r}): must be a whole number from 1 to 100, the largest number to look at")
    try:
        rng = generator(random_state)
    except (TypeError, ValueError):
        raise BadParameter(f"choose_clusters(random_state={random_state!r}): must be a whole number >= 0, a generator, or None") from None
    seen = _looked_at(X, sample_weight, seed_of(rng))
    n, total, all_rows = len(seen.rows), seen.total, seen.total <= seen.weight.sum() * (1 + 1e-9)
    mean = seen.weight @ seen.rows / seen.weight.sum()
    asked, most = int(most), min(int(most), n // IN_A_CLUSTER)
    if most < 2:
        return _few(seen, mean, asked, all_rows)
    scale = np.abs(seen.rows - mean).max()  # squares of numbers beyond 1e154 would overflow, those below 1e-154 vanish
    rows = np.ascontiguousarray((seen.rows - mean) / scale)
    with np.errstate(under="ignore"), single_blas:
        turned = _narrow(rows)
        found = evidence_of(turned, seen.weight, most, rng)
    clusters, why = recommended(found)
    centers = np.array([seen.weight[part] @ rows[part] / seen.weight[part].sum() for part in _groups(found, turned, clusters)])
    thumb = Said("square root of N/2", max(1, round((total / 2) ** 0.5)), "a rule of thumb; it does not look at the rows")
    return ClusterChoice(clusters, why, (thumb, *_all_rules(found)), centers * scale + mean, found, total, n, all_rows)


def _few(seen: Sample, mean: Array, most: int, all_rows: bool) -> ClusterChoice:
    """Too few different rows for any curve: each is a group of its own if there are copies enough."""
    n = len(seen.rows)
    if 1 < n <= most and seen.weight.min() >= IN_A_CLUSTER:
        return ClusterChoice(n, f"there are {n} different rows, each of them several times", (), seen.rows, None, seen.total, n, all_rows)
    why = f"there are {n} different rows, and {2 * IN_A_CLUSTER} are needed to tell groups" if n > 1 else "all rows are the same"
    return ClusterChoice(1, why, (), mean[None, :], None, seen.total, n, all_rows)


def recommended(one: Evidence) -> tuple[int, str]:
    """The number of clusters, and why."""
    above = one.gap - one.gap[0] - SURE * one.gap_error
    supported = (above > 0) & (one.strength >= STRONG)
    supported[0] = False
    if not supported.any():
        compact = above > 0
        compact[0] = False
        if compact.any():
            k = int(np.argmax(np.where(compact, one.strength, -1.0)))
            firmest = f"the firmest, of {k + 1}, has a prediction strength of {one.strength[k]:.2f}"
            return 1, f"no compact grouping is found again in other rows ({firmest}): these would be grouped differently"
        return 1, "no number of clusters is more compact than it would be in rows spread evenly: these rows show no groups"
    worth = np.where(supported, one.silhouette * np.sqrt(one.strength), -np.inf)
    k = int(np.argmax(worth))
    errors = (one.gap[k] - one.gap[0]) / max(one.gap_error[k], np.finfo(np.float64).tiny)
    margin = "far" if errors > 100 else f"{errors:.0f} standard errors"
    return k + 1, (
        f"more compact than rows spread evenly (gap {margin} above that of one cluster), found again in other rows "
        f"(strength {one.strength[k]:.2f}), and told apart (silhouette {one.silhouette[k]:.2f})"
    )


def _all_rules(one: Evidence) -> list[Said]:
    """What each rule says by itself."""
    best = int(np.nanargmax(one.silhouette))
    strong = np.flatnonzero(one.strength >= 0.8)[-1]
    least = int(np.argmin(one.held_out))
    return [
        Said("elbow, nearest to origin", _nearest(one.within), "within/total against k, both scaled to 0..1"),
        Said("elbow, largest curvature", _sharpest(one.within), "where the curve of within/total bends most"),
        Said("cross-validated within/total", least + 1, f"least on held-out rows: {one.held_out[least]:.3f}; it mostly falls with k"),
        Said("silhouette", best + 1, f"largest mean: {one.silhouette[best]:.3f}; it cannot say one"),
        Said("gap statistic", _first_within(one.gap, one.gap_error), "first k whose gap is within a standard error of the next"),
        Said("BIC", int(np.argmax(one.bic)) + 1, "of a mixture of Gaussians with these means and variances"),
        Said("prediction strength", int(strong) + 1, "largest k of at least 0.8"),
    ]


def _nearest(curve: Array) -> int:
    """The point of the curve, scaled to 0..1 both ways, that is nearest to the origin."""
    fall = curve[0] - curve[-1]
    if len(curve) < 2 or fall <= 0:
        return 1
    return int(np.argmin(np.linspace(0, 1, len(curve)) ** 2 + ((curve - curve[-1]) / fall) ** 2)) + 1


def _sharpest(curve: Array) -> int | None:
    """The largest second difference, which has no ends."""
    return int(np.argmax(np.diff(curve, 2))) + 2 if len(curve) > 2 else None


def _first_within(gap: Array, error: Array) -> int:
    """The first k with gap(k) ≥ gap(k + 1) − s(k + 1); the last where there is none."""
    enough = np.flatnonzero(gap[:-1] >= gap[1:] - error[1:])
    return int(enough[0]) + 1 if len(enough) else len(gap)


def _cell(name: str, value: float) -> str:
    return f"{'':>10}" if np.isnan(value) else f"{value:>10,.0f}" if name == "BIC" else f"{value:>10.3f}"


def _narrow(rows: Array) -> Array:
    """Rows of more columns than there are rows, turned into as many: distances stay."""
    if rows.shape[1] <= rows.shape[0]:
        return rows
    left, size, _ = np.linalg.svd(rows, full_matrices=False)
    return np.ascontiguousarray(left * size)


def _groups(found: Evidence, rows: Array, clusters: int) -> list[Array]:
    near = ops.nearest(rows, np.ascontiguousarray(found.runs[clusters - 1].centers))[0]
    parts = [np.flatnonzero(near == k) for k in range(clusters)]
    return [part for part in parts if len(part)]


class _Gate(KMeans):
    """What k-means takes, for rows that are read once."""

    kind: ClassVar[str] = "one pass"


def _looked_at(X: Any, sample_weight: Any, seed: int) -> Sample:
    """Different rows, drawn by a hash of what they hold, with their weights."""
    gate = _Gate(n_clusters=1)
    source = check.check_fit(gate, X, None, sample_weight)
    count = int(np.clip(CELLS // max(1, source.n_features), LEAST_ROWS, ROWS))
    seen: Sample = gate._driven(partial(_one_sample, count=count, seed=seed), source)
    return seen


def _one_sample(source: Source, count: int, seed: int) -> Learner[Sample]:
    seen: Sample = yield partial(_sample, count=count, seed=seed)
    return seen


def _sample(block: Block, count: int, seed: int) -> Sample:
    return Sample.of(block.X, block.w, count, seed)
