"""Statistics that a saved model may hold: a number for each, and the forms of its fields (see `saved.forms`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np

# Number -> module and name of a statistic, forms of its fields.
STATISTICS: dict[int, tuple[str, str, str]] = {
    1: (
        "tenfold.core.stats",
        "Moments",
        """
        weight=float>0 center=float(m) offset=float(m) scatter=float(m,m) ;
        weight=float(g)>=0 center=float(g,m) offset=float(g,m) scatter=float(g,m,m)""",
    ),
    2: (
        "tenfold.core.stats",
        "Spread",
        """
        weight=float(g)>=0 center=float(g,m) offset=float(g,m) scatter=real(g,m)""",
    ),
    3: ("tenfold.core.stats", "Counts", "weight=float(g)>=0"),
    4: ("tenfold.solve.columns", "Distinct", "values=[real(*)](n) weights=[float(*)>=0](n)"),
    5: ("tenfold.reduce.table", "Table", "moments=Moments(m) rows=pieces ; moments=none rows=pieces"),
    6: ("tenfold.prepare.imputer", "Filled", "values=Spread(m,1)|Distinct(m) missing=Counts(m)"),
    7: (
        "tenfold.tree.structure.arrays",
        "Trees",
        """
        first=int(*) children_left=int(n) children_right=int(n) feature=int(n) threshold=real(n)
        missing_go_to_left=byte(n) subset=int(n) bits=hash(*) value=float(n,k) impurity=float(n) gain=float(n)
        n_node_samples=int(n) weighted_n_node_samples=float(n)""",
    ),
    8: (
        "tenfold.tree.structure.multiway",
        "ManyWay",
        """
        feature=int(n) threshold=real(n) gain=float(n) counts=float(n,k) first=int(n+1) value=real(b) child=int(b)""",
    ),
    11: ("tenfold.linear.weighted", "Weighed", "moments=Moments(m)|FewRows(m) rows=float>0 log_variance=float"),
    12: ("tenfold.solve.few_rows", "FewRows", "X=float(n,m) y=float(n,q) w=float(n)>=0"),
    13: ("tenfold.generative.class_rows", "ClassRows", "classes=int:k X=float(n,m) y=int(n)<k w=float(n)>0"),
    14: ("tenfold.prepare.scaler", "Extremes", "weight=float(1)>0 low=real(m) high=real(m)"),
    20: ("tenfold.features.scores", "Joint", "weight=float>0 center=float(m) offset=float(m) scatter=float(2,m)"),
    21: ("tenfold.solve.columns", "Ranges", "spread=Spread(m,1) low=real(m) high=real(m)"),
    22: (
        "tenfold.solve.sketch",
        "Quantiles",
        """
        k=int seed=int n=float>0 low=real(m) high=real(m) level=int(i) value=real(m,i) weight=float(m,i)>0 doubt=float(m)>=0""",
    ),
    23: ("tenfold.prepare.ordered", "Ranks", "sketch=Quantiles(m) missing=float(m)>=0"),
    24: (
        "tenfold.solve.sketch",
        "Sample",
        "hash=hash(n) rows=real(n,m) weight=float(n)>0 k=int total=float>0",
    ),
    25: ("tenfold.text.vocabulary", "Vocabulary", "letters=byte(c) ends=int(m) documents=float(m)>=0 counts=float(m)>=0 weight=float>=0"),
    26: ("tenfold.generative.class_sums", "ClassSums", "weight=float(k)>=0 sums=float(k,m)"),
    27: ("tenfold.generative.class_sums", "CategoryCounts", "weight=float(k)>=0 counts=float(m,c,k)>=0"),
    28: ("tenfold.generative.mixed_sums", "MixedSums", "classes=Counts(k) numbers=Spread(g,1)|none categories=CategoryCounts(k)|none"),
    29: ("tenfold.reduce.root", "Root", "weight=float>0 center=float(m) offset=float(m) scatter=float(r,m)"),
}
# The array of a statistic whose shape a form gives, and the field that holds values of the training table.
LEADING: dict[str, Callable[[Any], Any]] = {
    "Moments": lambda s: s.center,
    "Spread": lambda s: s.center,
    "Counts": lambda s: s.weight,
    "Distinct": lambda s: np.empty(len(s.values)),
    "Table": lambda s: s.rows[0][0][0] if s.moments is None else s.moments.center,
    "Filled": lambda s: s.missing.weight,
    "FewRows": lambda s: np.concatenate([s.X[0], s.y[0]]),
    "ClassRows": lambda s: np.broadcast_to(0.0, (s.classes, s.X.shape[1])),
    "Weighed": lambda s: s.moments.center,
    "Extremes": lambda s: s.low,
    "Quantiles": lambda s: s.low,
    "Ranks": lambda s: s.missing,
    "Sample": lambda s: np.empty(s.rows.shape[1]),
    "Trees": lambda s: np.empty((len(s), s.value.shape[1])),
    "ManyWay": lambda s: s.counts,
    "Joint": lambda s: s.center,
    "Ranges": lambda s: s.low,
    "Vocabulary": lambda s: s.documents,
    "ClassSums": lambda s: s.sums,
    "CategoryCounts": lambda s: s.weight,
    "MixedSums": lambda s: s.classes.weight,
    "Root": lambda s: s.center,
}
ROWS_IN = {
    "Distinct": "values", "Quantiles": "value", "Sample": "rows", "Table": "rows", "FewRows": "X", "ClassRows": "X", "Ranges": "low",
    "Vocabulary": "letters", "Root": "scatter",
}  # fmt: skip
NUMBER_OF_STATISTIC = {(module, name): number for number, (module, name, _) in STATISTICS.items()}


def statistic_number(value: Any) -> int | None:
    """The number of a statistic, or None for anything else."""
    return NUMBER_OF_STATISTIC.get((type(value).__module__, type(value).__name__))


def statistic_class(number: int) -> Any:
    """The class of a statistic; the module is named here, never in a file."""
    module, name, _ = STATISTICS[number]
    return getattr(import_module(module), name)


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a statistic by name."""
    return {f.name: getattr(value, f.name) for f in fields(value)}
