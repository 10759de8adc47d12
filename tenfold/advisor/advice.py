"""The questions to ask before a regression, answered from the rows, ending in a method and why."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from tenfold.advisor import evidence
from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.linear.least_squares import LinearRegression

ROWS = 20_000  # looked at; of longer tables every k-th row
SURE = 1e-3  # p below which a test is significant
REMOTE = 0.1  # share of the outliers that may lie far out in X by chance
LEVELS = 10  # a target with at most so many different values lies on as many planes, each at one of them
TAILS = 1.3  # times as wide as those of a Gaussian, from where tails are heavy
ILL = 100.0  # condition number of scaled columns from which coefficients are loose


@dataclass(frozen=True)
class Finding:
    """A question, its answer, and the evidence in the rows."""

    question: str
    answer: str
    evidence: str


@dataclass(frozen=True)
class Advice:
    """What was found, and the method it leads to; `learner` is a public name, `print(advice)` shows all."""

    findings: tuple[Finding, ...]
    method: str
    learner: str
    why: str

    def answer(self, question: str) -> str:
        """The answer to the question that begins with these words."""
        return next(one.answer for one in self.findings if one.question.startswith(question))

    def __str__(self) -> str:
        lines = [f"{one.question:<34s} {one.answer}\n{'':<34s} {one.evidence}" for one in self.findings]
        return "\n".join([*lines, "", f"METHOD  {self.method}", f"USE     {self.learner}", f"WHY     {self.why}"])

    __repr__ = __str__


def advise(X: Any, y: Any, *, x_noisy: bool | None = None) -> Advice:
    """Which regression for these rows: classes, linear, what noise, enough rows, outliers, one plane or several.

    X may be a table in memory, or a path to a CSV or Parquet file with y the name of its target. Whether X
    is noisy the rows cannot show: give x_noisy.

    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> advice = tenfold.advise(X, X @ [1.0, 2.0] + rng.normal(size=200))
    >>> advice.learner, advice.answer("linear")
    ('LinearRegression', 'yes')
    """
    X, y, about = _rows(X, y)
    n, p = X.shape
    loose = evidence.condition(X) if n > p + 1 else np.inf
    shape = Finding(
        "underdetermined, ill conditioned?",
        _determined(n, p, loose),
        f"{about}, {counted(p, 'column')}; condition {loose:.3g}",
    )
    noisy = Finding(
        "X noisy?",
        "not known" if x_noisy is None else "yes" if x_noisy else "no",
        "the rows cannot show it: errors in X only make slopes smaller" if x_noisy is None else "as given by x_noisy",
    )
    values = np.unique(y)
    if len(values) == 2:
        two = Finding(
            "two classes?", "yes", f"y is {values[0]:g} or {values[1]:g} in every row: a class, not a quantity"
        )
        why = "a probability lies between 0 and 1, which no plane through classes does; tenfold select tries other classifiers"
        return Advice(
            (shape, two, noisy), "classification: a model of the probability of a class", "LogisticRegression", why
        )
    if n <= 2 * (p + 1):
        why = f"{counted(n, 'row')} cannot settle {p + 1} numbers and leave something to judge them by"
        return Advice((shape, noisy), "least squares with a penalty", "RidgeCV", why)
    Z = np.column_stack([np.ones(n), X])
    # where most rows have the same y, the narrowest plane is that level, and all others would lie off it
    level = float(np.unique(y, return_counts=True)[1].max() / n) > 0.5
    plane = evidence.least_squares(Z, y) if level else evidence.robust_plane(Z, y)
    findings = [shape, *_about_residuals(Z, y, plane), noisy]
    return _concluded(findings, x_noisy)


def _determined(n: int, p: int, loose: float) -> str:
    if n <= p + 1:
        return "underdetermined"
    return "ill conditioned" if loose > ILL else "no"


def _about_residuals(Z: Array, y: Array, plane: evidence.Plane) -> list[Finding]:
    share, second = evidence.second_plane(Z, y, plane)
    bent, explained = evidence.curvature(Z, y, plane)
    spread = evidence.unequal(Z, plane)
    ratio = evidence.dispersion(y, plane)
    wide = evidence.tail(plane.rest)
    far = float((np.abs(plane.rest) > 5 * max(plane.scale, 1e-300)).mean()) if plane.scale > 0 else 0.0
    several = share > 0.15 and second > 0.6 and len(np.unique(y)) > LEVELS
    counts = ratio is not None and 0.7 < ratio < 1.4 and not several
    heavy = 0 < far <= 0.4 and wide > TAILS and not counts
    outlying = heavy and spread >= SURE  # noise that grows makes wide tails too: whether there are outliers is not sure
    apart = evidence.remote(Z, plane) if outlying else 0.0
    where = "outliers, also in X" if apart > REMOTE else "outliers"
    return [
        Finding(
            "several instances?",
            "yes" if several else "no",
            f"{share:.1%} of the rows lie off the plane, {second:.0%} of those on one other plane",
        ),
        Finding(
            "linear?",
            "no" if bent < SURE and explained > 0.02 else "yes",
            f"squares explain {explained:.1%} of what is left (p = {bent:.2g})",
        ),
        Finding(
            "Poisson?",
            "yes" if counts else "no",
            "y is not made of counts" if ratio is None else f"variance over mean {ratio:.2f}, 1 for counts",
        ),
        Finding(
            "noise equal?",
            "no" if spread < SURE else "yes",
            f"squared residuals go with columns or prediction: p = {spread:.2g}",
        ),
        Finding(
            "outliers, heavy tails?",
            "several instances" if several else where if outlying else "not sure" if heavy else "no",
            f"{far:.1%} of the rows beyond 5 standard deviations"
            + (f", {apart:.0%} of those far out in X" if outlying else "")
            + f"; tails {wide:.2f} times as wide as Gaussian"
            + (", which unequal noise makes as well" if heavy and not outlying and not several else ""),
        ),
    ]  # fmt: skip


def _concluded(findings: list[Finding], x_noisy: bool | None) -> Advice:
    """The tree of questions, from what spoils all others downwards."""
    found = {one.question: one.answer for one in findings}
    bent = found["linear?"] == "no"
    if found["several instances?"] == "yes":
        choice = (
            "one plane at a time, from random subsets: n_models is how many",
            "RANSACRegressor",
            "a single fit would run between the planes",
        )
    elif found["Poisson?"] == "yes":
        choice = (
            "transform the counts to equal noise, then least squares" + (" on basis functions" if bent else ""),
            "AnscombeTransformer",
            "the noise of counts grows with their mean",
        )
    elif found["outliers, heavy tails?"] == "outliers, also in X" and not bent:
        choice = (
            "robust regression that rows far out in X cannot turn",
            "MMRegressor",
            "wrong rows far out in X turn every fit that lets them count, and Huber's loss does",
        )
    elif found["outliers, heavy tails?"] == "outliers" and not bent:
        choice = ("robust regression", "HuberRegressor", "squares would let a few rows decide")
    elif bent:
        choice = (
            "CurveFit if you know the function; else least squares on basis functions, or KernelRegressor",
            "SplineTransformer",
            "a plane leaves a shape behind in the residuals",
        )
    elif found["underdetermined, ill conditioned?"] != "no":
        choice = (
            "least squares with a penalty",
            "RidgeCV",
            "some directions of X hardly vary: their slopes are loose",
        )
    elif x_noisy:
        choice = (
            "total least squares: the distance of rows from the plane, not along y alone",
            "TotalLeastSquares",
            "errors in X make the slopes of ordinary least squares too small",
        )
    elif found["noise equal?"] == "no":
        choice = (
            "weighted least squares, with a model of the variance; WeightedLeastSquares if you know the variances",
            "ReweightedLeastSquares",
            "the noise is not the same in all rows",
        )
    else:
        choice = ("ordinary least squares", "LinearRegression", "linear, with equal noise and enough rows")
    method, learner, why = choice
    return Advice(tuple(findings), method, learner, why)


def _rows(X: Any, y: Any) -> tuple[Array, Array, str]:
    """The rows to look at, through the gate."""
    source = check.check_fit(LinearRegression(), X, y)
    step = max(1, ceil((source.n_rows or 1) / ROWS))
    blocks = [source.load(part) for part in source.parts()]
    X = np.concatenate([ops.dense(block.X).astype(np.float64) for block in blocks])
    y = np.concatenate([block.y for block in blocks])
    if y.shape[1] > 1:
        raise BadInput(f"advise looks at one target, but y has {y.shape[1]} columns: ask for each of them")
    step = max(step, ceil(len(X) / ROWS))
    about = counted(len(X), "row") + (f" (every {ordinal(step)} looked at)" if step > 1 else "")
    return X[::step], y[::step, 0], about


def counted(count: int, one: str) -> str:
    """`1 row`, `3 rows`."""
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, `11th`."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number:,}{'th' if 10 <= number % 100 <= 20 else ends.get(number % 10, 'th')}"
