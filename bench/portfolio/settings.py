"""The settings that are measured: more than the portfolio will hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tenfold

ROUNDS = (25, 50, 100, 200, 400, 800, 1600)
TREES = (100, 300)
MOST_LEAVES = 200_000  # of boosting in one fit
RATE_ROUNDS = 40.0  # rate × rounds beyond which nothing is gained
WIDE_BINS = 65_535
FEW_COLUMNS, FEWER_COLUMNS, MANY_COLUMNS = 60, 20, 300  # for splines, for products, for kernels


@dataclass(frozen=True)
class Setting:
    """A learner, what stands before it, and the values of one parameter, which are columns of its outputs."""

    name: str
    kind: str  # of model: an ensemble takes few of each
    learner: Any
    steps: tuple[Any, ...] | None = None  # behind the matrix of numbers; None: the frame as it is
    path: str | None = None
    values: tuple[Any, ...] = (None,)
    log: bool = False  # fitted to the logarithm of the target
    stage: int = 2  # 1 is measured first


@dataclass(frozen=True)
class Shape:
    """What is known of a table before anything is fitted."""

    rows: int
    width: int  # of the matrix of numbers
    classes: int  # 0 for numbers
    categories: bool
    lowest: float = 0.0  # of the target
    skew: float = 0.0
    numbers: tuple[int, ...] = field(default=())  # columns of the matrix with more than two values

    @property
    def outputs(self) -> int:
        return self.classes if self.classes > 2 else 1


def settings_for(shape: Shape) -> list[Setting]:
    """All that can be measured for a table of this shape."""
    role = "Classifier" if shape.classes else "Regressor"
    return [*_boosted(shape, role), *_forests(shape, role), *(_of_classes if shape.classes else _of_numbers)(shape)]


def _boosted(shape: Shape, role: str) -> list[Setting]:
    make = getattr(tenfold, f"HistGradientBoosting{role}")

    def one(name: str, leaves: int, rate: float, stage: int = 2, log: bool = False, steps: Any = None, **rest: Any) -> Setting:
        most = min(MOST_LEAVES / leaves / shape.outputs, RATE_ROUNDS / rate)
        rounds = tuple(n for n in ROUNDS if n == ROUNDS[0] or n <= most)
        learner = make(early_stopping=False, max_leaf_nodes=leaves, learning_rate=rate, random_state=0, **rest)
        return Setting(f"boost {name}", "boosting", learner, steps, "max_iter", rounds, log, stage)

    found = [
        one("2 leaves, rate 0.1", 2, 0.1, stage=3),
        one("4 leaves, rate 0.1", 4, 0.1, stage=1),
        one("4 leaves, rate 0.05, leaf 5", 4, 0.05, min_samples_leaf=5),
        one("8 leaves, rate 0.3", 8, 0.3, stage=3),
        one("8 leaves, rate 0.1", 8, 0.1),
        one("8 leaves, rate 0.05", 8, 0.05),
        one("8 leaves, rate 0.05, half", 8, 0.05, max_features=0.5),
        one("8 leaves, rate 0.05, half, leaf 5", 8, 0.05, max_features=0.5, min_samples_leaf=5),
        one("16 leaves, rate 0.05, half", 16, 0.05, stage=3, max_features=0.5),
        one("16 leaves, rate 0.05, third, leaf 5, rows 0.7", 16, 0.05, stage=1, max_features=1 / 3, min_samples_leaf=5, subsample=0.7),
        one("31 leaves, rate 0.1", 31, 0.1),
        one("31 leaves, rate 0.05", 31, 0.05),
        one("31 leaves, rate 0.02", 31, 0.02, stage=3),
        one("31 leaves, rate 0.05, half", 31, 0.05, max_features=0.5, stage=1),
        one("31 leaves, rate 0.05, third", 31, 0.05, stage=3, max_features=1 / 3),
        one("31 leaves, rate 0.05, leaf 5", 31, 0.05, stage=3, min_samples_leaf=5),
        one("31 leaves, rate 0.05, leaf 1", 31, 0.05, min_samples_leaf=1),
        one("31 leaves, rate 0.05, leaf 40", 31, 0.05, stage=3, min_samples_leaf=40),
        one("31 leaves, rate 0.05, l2 1", 31, 0.05, stage=3, l2_regularization=1.0),
        one("31 leaves, rate 0.05, l2 10", 31, 0.05, stage=3, l2_regularization=10.0),
        one("31 leaves, rate 0.05, half, leaf 5", 31, 0.05, stage=3, max_features=0.5, min_samples_leaf=5),
        one("31 leaves, rate 0.05, half, leaf 2, l2 5", 31, 0.05, max_features=0.5, min_samples_leaf=2, l2_regularization=5.0),
        one("31 leaves, rate 0.03, half, rows 0.7", 31, 0.03, max_features=0.5, subsample=0.7, stage=1),
        one("31 leaves, rate 0.03, third, leaf 5, rows 0.7", 31, 0.03, max_features=1 / 3, min_samples_leaf=5, subsample=0.7),
        one("64 leaves, rate 0.05, half, leaf 5", 64, 0.05, max_features=0.5, min_samples_leaf=5),
        one("127 leaves, rate 0.05", 127, 0.05, stage=1),
        one("127 leaves, rate 0.03, half, leaf 5", 127, 0.03, stage=3, max_features=0.5, min_samples_leaf=5),
        one("255 leaves, rate 0.03, third, leaf 5", 255, 0.03, max_features=1 / 3, min_samples_leaf=5),
        one("31 leaves, rate 0.05, many bins", 31, 0.05, stage=3, max_bins=WIDE_BINS),
    ]
    if shape.categories:
        found += [
            one("31 leaves, rate 0.05, codes", 31, 0.05, stage=3, categorical_features=None),
            one("31 leaves, rate 0.05, indicators", 31, 0.05, steps=()),
            one("8 leaves, rate 0.05, indicators, half", 8, 0.05, steps=(), max_features=0.5),
        ]
    if shape.classes:
        return found
    if shape.lowest >= 0:
        found += [
            one("31 leaves, rate 0.05, poisson", 31, 0.05, stage=1, loss="poisson"),
            one("8 leaves, rate 0.05, half, poisson", 8, 0.05, loss="poisson", max_features=0.5),
        ]
    if shape.lowest > 0:
        found += [one("31 leaves, rate 0.05, gamma", 31, 0.05, loss="gamma")]
    if shape.lowest >= 0:
        found += [
            one("31 leaves, rate 0.05, half, log", 31, 0.05, stage=1, log=True, max_features=0.5),
            one("8 leaves, rate 0.05, half, log", 8, 0.05, log=True, max_features=0.5),
        ]
    return found


def _forests(shape: Shape, role: str) -> list[Setting]:
    def one(kind: str, columns: Any, leaf: int = 1, stage: int = 2, log: bool = False, steps: Any = None, **rest: Any) -> Setting:
        make = getattr(tenfold, ("RandomForest" if kind == "forest" else "ExtraTrees") + role)
        words = "".join(f", {key} {value}" for key, value in rest.items())
        name = f"{kind} {columns if isinstance(columns, str) else round(columns, 2)}, leaf {leaf}{words}"
        name += (", log" if log else "") + (", indicators" if steps is not None else "")
        learner = make(max_features=columns, min_samples_leaf=leaf, random_state=0, **rest)
        return Setting(name, kind, learner, steps, "n_estimators", TREES, log, stage)

    found = [
        one("forest", "sqrt", stage=1 if shape.classes else 2),
        one("forest", 1 / 3, stage=1 if not shape.classes else 2),
        one("forest", 0.5),
        one("forest", 1.0, stage=3),
        one("forest", "sqrt", 2, stage=3),
        one("forest", "sqrt", 5),
        one("forest", 1 / 3, 5, stage=3),
        one("forest", 0.5, max_bins=WIDE_BINS),
        one("extra", "sqrt"),
        one("extra", 0.5, stage=1),
        one("extra", 1.0),
        one("extra", 1.0, 2, stage=3),
        one("extra", "sqrt", 2),
        one("extra", 1.0, 5),
        one("extra", 0.5, max_bins=WIDE_BINS),
    ]
    if shape.categories:
        found += [one("extra", 0.5, steps=()), one("forest", "sqrt", steps=())]
    if not shape.classes and shape.lowest >= 0:
        found += [one("forest", 1 / 3, log=True), one("extra", 0.5, log=True)]
    return found


def _basis(shape: Shape) -> list[tuple[str, tuple[Any, ...]]]:
    """What may stand between the matrix and a linear model: its name, and the transformers."""
    scale, p, n = tenfold.StandardScaler, shape.width, shape.rows
    found: list[tuple[str, tuple[Any, ...]]] = [("", ())]
    found += [("of ranks", (tenfold.QuantileTransformer(n_quantiles=min(1000, n), subsample=None, output_distribution="normal"), scale()))]
    found += [("of powers", (tenfold.PowerTransformer(),))]
    if p <= FEW_COLUMNS:
        found += [("of splines", (tenfold.SplineTransformer(5, 3, knots="quantile", extrapolation="linear"), scale()))]
    if p <= FEWER_COLUMNS:
        found += [("of products", (tenfold.PolynomialFeatures(2, include_bias=False), scale()))]
    elif n >= 100:
        found += [("of products of components", (tenfold.PCA(12, whiten=True), tenfold.PolynomialFeatures(2, include_bias=False), scale()))]
    if p <= MANY_COLUMNS:
        few, many = min(300, n // 2), min(1000, int(0.8 * n))
        found += [("of kernels", (_kernels(few, 1.0, p), scale()))]
        found += [(f"of many kernels, width {h:g}", (_kernels(many, h, p), scale())) for h in (0.5, 1.0, 2.0)]
        ranks = tenfold.QuantileTransformer(n_quantiles=min(1000, n), subsample=None, output_distribution="normal")
        found += [("of many kernels of ranks", (ranks, scale(), _kernels(many, 1.0, p), scale()))]
        flat = tenfold.RadialBasisFeatures(many, centers="sample", bandwidth=float(np.sqrt(p)), kernel="inverse_multiquadric")
        found += [("of many flat kernels", (flat, scale()))]
    return found


def _kernels(count: int, width: float, p: int) -> Any:
    return tenfold.RadialBasisFeatures(count, centers="sample", bandwidth=width * float(np.sqrt(p)))


CORE_BASES = (
    "",
    "of splines",
    "of products",
    "of products of components",
    "of kernels",
    "of many kernels, width 1",
    "of many kernels, width 2",
    "of many kernels of ranks",
)


def _of_numbers(shape: Shape) -> list[Setting]:
    n = shape.rows
    alphas = tuple(n * a for a in np.logspace(-7, 1, 17).tolist())
    found = []
    for name, steps in _basis(shape):
        whole = f"ridge {name}".strip()
        found += [Setting(whole, whole, tenfold.Ridge(), steps, "alpha", alphas, stage=1 if name in CORE_BASES else 2)]
        if shape.lowest >= 0 and ("kernels" not in name or name.endswith("width 1")):
            found += [Setting(f"{whole}, log", whole, tenfold.Ridge(), steps, "alpha", alphas, True)]
    strengths = tuple(np.logspace(-4, 0, 9).tolist())  # of columns and a target of variance 1; the target is scaled when measured
    for ratio in (1.0, 0.5):
        found += [Setting(f"elastic net {ratio:g}", "elastic net", tenfold.ElasticNet(l1_ratio=ratio), (), "alpha", strengths)]
    if shape.width <= FEWER_COLUMNS and n <= 8000:
        found += [Setting("kernel regression", "kernel regression", tenfold.KernelRegressor(), ())]
    adaptive = tenfold.AdaBoostRegressor(tenfold.DecisionTreeRegressor(max_depth=8), random_state=0)
    found += [Setting("adaboost", "adaboost", adaptive, (), "n_estimators", (50, 100))]
    return found


def _of_classes(shape: Shape) -> list[Setting]:
    n, K = shape.rows, shape.classes
    C = tuple(c / n for c in (1.0, 10.0, 100.0, 1e3, 1e4, 1e5))
    found = []
    for name, steps in _basis(shape):
        whole = f"logistic {name}".strip()
        width = min(1000, n) if "many" in name else 300 if "kernels" in name else 90
        if K * width <= (2000 if "many" in name else 8000):
            found += [Setting(whole, whole, tenfold.LogisticRegression(), steps, "C", C, stage=1 if name in CORE_BASES else 2)]
        whole = f"discriminant {name}".strip()
        if name != "of ranks":
            learner = tenfold.LinearDiscriminantAnalysis(solver="lsqr")
            first = name in ("", "of kernels", "of many kernels, width 1")
            found += [Setting(whole, whole, learner, steps, "shrinkage", (0.0, 0.001, 0.01, 0.1), stage=1 if first else 2)]
    bag = tenfold.BaggingClassifier(tenfold.QuadraticDiscriminantAnalysis(reg_param=0.01), 20, max_features=0.5, random_state=0)
    adaptive = tenfold.AdaBoostClassifier(tenfold.DecisionTreeClassifier(max_depth=3), random_state=0)
    found += [
        Setting("logistic sparse", "logistic", tenfold.LogisticRegression(l1_ratio=1.0), (), "C", C[1:5]),
        Setting("quadratic", "quadratic", tenfold.QuadraticDiscriminantAnalysis(), (), "reg_param", (0.0, 0.01, 0.1, 0.5), stage=1),
        Setting("bag of quadratic", "quadratic", bag, ()),
        Setting("naive Bayes", "naive Bayes", tenfold.GaussianNB(), (), stage=1),
        Setting("naive Bayes of powers", "naive Bayes", tenfold.GaussianNB(), (tenfold.PowerTransformer(),)),
        Setting("adaboost", "adaboost", adaptive, (), "n_estimators", (50, 200)),
    ]
    return found
