"""What a saved model may hold: a number for each kind, and the form of each of its fitted attributes.

A file names a kind by its number and nothing else, so it cannot name code. Numbers are for ever. A form is

    float, int, bool, str, none, names      a number, a text, nothing, a dict of texts
    learner, part                           a fitted learner of the same p columns, or of any
    float(q,p)                              an array of finite numbers; real(...) may hold NaN and infinities
    int(n)  int(n)<K  bool(p)               whole numbers, numbers of classes 0, ..., K − 1, truth values
    label(K)  text(p)                       class labels; an array of texts
    [float(p,*)](K)                         a list of K arrays
    [levels](p)                             a list of p: the categories of a column, or nothing for one of numbers
    Moments(p+q)                            a statistic, with the shape of its leading array
    int:p                                   a number that fixes the size p

Sizes are numbers, letters or sums of them; a letter means one size throughout a model, M one of at least 3 (with
two classes there is one row of coefficients), `*` any size.
`a|b` is either form, `name?` may be absent, and `;` separates whole variants.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import Any

import numpy as np

# Every learner may have what the gate found out; a step of a pipeline also has the facts about its target.
FACTS = """
    n_features_in_=int:p feature_names_in_?=text(p) classes_?=label(K) _flat?=bool absent_?=names
    categories_?=[levels](p) _output?=str """

# Number -> public name, forms of the fitted attributes.
LEARNERS: dict[int, tuple[str, str]] = {
    1: (
        "LinearRegression",
        """
        coef_=float(p) intercept_=float rank_?=int singular_?=float(*) condition_?=float|inf solver_=str
        n_iter_=int _flat=bool stats_?=Moments(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) rank_?=int singular_?=float(*) condition_?=float|inf
        solver_=str n_iter_=int _flat=bool stats_?=Moments(p+q)""",
    ),
    2: (
        "Ridge",
        """
        coef_=float(p) intercept_=float n_iter_=int _flat=bool stats_?=Moments(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) n_iter_=int _flat=bool stats_?=Moments(p+q)""",
    ),
    3: (
        "LogisticRegression",
        """
        classes_=label(M) coef_=float(M,p) intercept_=float(M) n_iter_=int(*) ;
        classes_=label(2) coef_=float(1,p) intercept_=float(1) n_iter_=int(*)""",
    ),
    4: (
        "GaussianNB",
        """
        classes_=label(K) theta_=float(K,p) var_=float(K,p) class_count_=float(K) class_prior_=float(K)
        epsilon_=float stats_?=Spread(K,p)""",
    ),
    5: (
        "LinearDiscriminantAnalysis",
        """
        classes_=label(M) coef_=float(M,p) intercept_=real(M) means_=float(M,p) priors_=float(M)
        scalings_=float(p,r) xbar_=float(p) explained_variance_ratio_=float(*) covariance_?=float(p,p)
        stats_?=Moments(M,p) ;
        classes_=label(2) coef_=float(1,p) intercept_=real(1) means_=float(2,p) priors_=float(2)
        scalings_=float(p,r) xbar_=float(p) explained_variance_ratio_=float(*) covariance_?=float(p,p)
        stats_?=Moments(2,p)""",
    ),
    6: (
        "QuadraticDiscriminantAnalysis",
        """
        classes_=label(K) means_=float(K,p) priors_=float(K) rotations_=[float(p,p)](K)
        scalings_=[float(p)](K) whitening_=float(K,p,p) constant_=real(K) covariance_?=[float(p,p)](K)
        stats_?=Moments(K,p)""",
    ),
    7: (
        "NearestCentroid",
        """
        classes_=label(K) centroids_=float(K,p) deviations_=float(K,p) within_class_std_dev_=float(p)
        class_prior_=float(K) class_weight_=float(K) stats_?=Spread(K,p)|Distinct(*)""",
    ),
    8: (
        "PCA",
        """
        components_=float(k,p) explained_variance_=float(k) explained_variance_ratio_=float(k)
        singular_values_=float(k) mean_=float(p) n_components_=int n_samples_=int noise_variance_=float
        stats_?=Table(p)""",
    ),
    9: (
        "StandardScaler",
        """
        mean_=real(p)|none var_=real(p)|none scale_=real(p)|none n_samples_seen_=int|float|int(p)|float(p)
        stats_?=Spread(p,1)""",
    ),
    10: ("SimpleImputer", "statistics_=real(p) missing_features_=int(*)<p stats_?=Filled(p)"),
    11: ("KMeans", "cluster_centers_=float(k,p) inertia_=float n_iter_=int labels_?=int(n)<k"),
    12: ("Pipeline", ""),
    # What `tenfold select` saves.
    13: ("TableModel", "target_=str reach_?=float"),
    14: (
        "TableCoder",
        """
        category_=bool(p) blank_=bool(p) reference_=text(p) levels_=[text(*)](p) pooled_=bool(p)
        scale_=float(p) date_?=text(p)""",
    ),
    15: ("FrequencyGuess", "classes_=label(K) log_share_=float(K) stats_?=Counts(K)"),
    16: ("MeanGuess", "_flat=bool mean_=float stats_?=Spread(1,1)"),
    17: (
        "Lasso",
        """
        coef_=float(p) intercept_=float dual_gap_=float n_iter_=int _flat=bool stats_?=Moments(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) dual_gap_=float(q) n_iter_=int(q) _flat=bool
        stats_?=Moments(p+q)""",
    ),
    18: (
        "ElasticNet",
        """
        coef_=float(p) intercept_=float dual_gap_=float n_iter_=int _flat=bool stats_?=Moments(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) dual_gap_=float(q) n_iter_=int(q) _flat=bool
        stats_?=Moments(p+q)""",
    ),
    19: (
        "LassoCV",
        """
        coef_=float(p) intercept_=float dual_gap_=float n_iter_=int _flat=bool alpha_=float
        alphas_=float(a) mse_path_=float(a,f)""",
    ),
    20: (
        "ElasticNetCV",
        """
        coef_=float(p) intercept_=float dual_gap_=float n_iter_=int _flat=bool alpha_=float l1_ratio_=float
        alphas_=float(a) mse_path_=float(a,f) ;
        coef_=float(p) intercept_=float dual_gap_=float n_iter_=int _flat=bool alpha_=float l1_ratio_=float
        alphas_=float(r,a) mse_path_=float(r,a,f)""",
    ),
    21: (
        "RidgeCV",
        """
        coef_=float(p) intercept_=float n_iter_=int _flat=bool alpha_=float best_score_=float cv_results_?=float(n,a) ;
        coef_=float(q,p) intercept_=float|float(q) n_iter_=int _flat=bool alpha_=float|float(q)
        best_score_=float|float(q) cv_results_?=float(n,q,a)""",
    ),
    22: (
        "LassoLars",
        """
        coef_=float(p) intercept_=float n_iter_=int _flat=bool alphas_=float(k) coef_path_=float(p,k)
        active_=int(*)<p events_=int(k) stats_?=Moments(p+1)""",
    ),
    23: (
        "Lars",
        """
        coef_=float(p) intercept_=float n_iter_=int _flat=bool alphas_=float(k) coef_path_=float(p,k)
        active_=int(*)<p events_=int(k) stats_?=Moments(p+1)""",
    ),
    24: (
        "CalibratedClassifierCV",
        "classes_=label(K) estimators_=[learner](t) maps_=[float(*)](m)|[float(2,*)](m)",
    ),
    31: ("HuberRegressor", "coef_=float(p) intercept_=float scale_=float n_iter_=int _flat=bool"),
    32: ("QuantileRegressor", "coef_=float(p) intercept_=float n_iter_=int _flat=bool"),
    33: (
        "BayesianRidge",
        """
        coef_=float(p) intercept_=float alpha_=float lambda_=float sigma_=float(p,p) scores_?=float(*) n_iter_=int
        X_offset_=float(p) X_scale_=float(p) _flat=bool stats_?=Moments(p+1)""",
    ),
    34: (
        "RANSACRegressor",
        """
        coef_=float(p) intercept_=float residual_threshold_=float inlier_share_=float n_trials_=int
        models_=float(*,*) _mask?=bool(n) _flat=bool ;
        _estimators=[learner](k) residual_threshold_=float inlier_share_=float n_trials_=int _mask?=bool(n)""",
    ),
    35: (
        "OrthogonalMatchingPursuit",
        """
        coef_=float(p) intercept_=float n_iter_=int n_nonzero_coefs_=int|none coef_path_=float(p,k) active_=int(*)<p
        _flat=bool stats_?=Moments(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) n_iter_=int(q) n_nonzero_coefs_=int|none coef_path_=float(q,p,k)
        _flat=bool stats_?=Moments(p+q)""",
    ),
    36: (
        "NonNegativeLeastSquares",
        """
        coef_=float(p) intercept_=float certificate_=float multipliers_=float(p) n_iter_=int solver_=str _flat=bool
        stats_?=Moments(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) certificate_=float(q) multipliers_=float(q,p) n_iter_=int(q)
        solver_=str _flat=bool stats_?=Moments(p+q)""",
    ),
    37: (
        "WeightedLeastSquares",
        """
        coef_=float(p) intercept_=float rank_=int singular_=float(*) condition_=float|inf solver_=str n_iter_=int
        _flat=bool stats_?=Weighed(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) rank_=int singular_=float(*) condition_=float|inf solver_=str
        n_iter_=int _flat=bool stats_?=Weighed(p+q)""",
    ),
    38: (
        "GeneralizedLeastSquares",
        """
        coef_=float(p) intercept_=float rank_=int singular_=float(*) condition_=float|inf solver_=str n_iter_=int
        triangle_=float(*,*) n_rows_=float log_determinant_=float _flat=bool ;
        coef_=float(q,p) intercept_=float|float(q) rank_=int singular_=float(*) condition_=float|inf solver_=str
        n_iter_=int triangle_=float(*,*) n_rows_=float log_determinant_=float _flat=bool""",
    ),
    39: (
        "ReweightedLeastSquares",
        """
        coef_=float(p) intercept_=float rank_=int singular_=float(*) condition_=float|inf solver_=str n_iter_=int
        variance_coef_=float(*) variance_intercept_=float groups_?=label(*) near_zero_?=float log_likelihood_=float
        certificate_=float _flat=bool stats_?=Weighed(p+1)""",
    ),
    40: (
        "TotalLeastSquares",
        """
        coef_=float(p) intercept_=float n_iter_=int singular_=float(*) squares_=float noise_=float generic_=bool
        _flat=bool stats_?=Moments(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) n_iter_=int singular_=float(*) squares_=float noise_=float
        generic_=bool _flat=bool stats_?=Moments(p+q)""",
    ),
    41: (
        "GroupLasso",
        """
        coef_=float(p) intercept_=float dual_gap_=float n_iter_=int group_of_=int(p) _flat=bool stats_?=Moments(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) dual_gap_=float(q) n_iter_=int(q) group_of_=int(p) _flat=bool
        stats_?=Moments(p+q)""",
    ),
    43: ("MMRegressor", "coef_=float(p) intercept_=float scale_=float n_iter_=int _flat=bool"),
    44: ("LeastAbsoluteDeviations", "coef_=float(p) intercept_=float mean_deviation_=float n_iter_=int _flat=bool"),
    45: ("LinearSVR", "coef_=float(p) intercept_=float dual_gap_=float n_iter_=int _flat=bool"),
    46: ("RadialBasisFeatures", "centers_=float(k,p) bandwidth_=float(p)"),
    51: ("PolynomialFeatures", "n_output_features_=int powers_=int(m,p) stats_?=Counts(1)"),
    52: ("FunctionTransformer", "n_output_features_=int stats_?=Counts(2)"),
    53: ("SplineTransformer", "knots_=float(p,k) n_features_out_=int"),
    54: ("CircleFit", "center_=float(p) radius_=float rms_=float certificate_=float n_iter_=int"),
    55: (
        "KernelRegressor",
        """
        bandwidth_=float(p) loo_error_?=float _rows=float(n,p) _targets=float(n)|float(n,q) _weights=float(n) _flat=bool""",
    ),
    56: ("AnscombeTransformer", "stats_?=Counts(1)"),
    60: (
        "HistGradientBoostingClassifier",
        """
        classes_=label(M) _trees=Trees(*,1) baseline_=float(M) _seed=int n_iter_=int n_trees_per_iteration_=int
        do_early_stopping_=bool train_score_=float(*) validation_score_=float(*) ;
        classes_=label(2) _trees=Trees(*,1) baseline_=float(1) _seed=int n_iter_=int n_trees_per_iteration_=int
        do_early_stopping_=bool train_score_=float(*) validation_score_=float(*)""",
    ),
    61: (
        "HistGradientBoostingRegressor",
        """
        _flat=bool _trees=Trees(*,1) baseline_=float(1) _seed=int n_iter_=int n_trees_per_iteration_=int
        do_early_stopping_=bool train_score_=float(*) validation_score_=float(*)""",
    ),
    62: (
        "GradientBoostingClassifier",
        """
        classes_=label(M) _trees=Trees(*,1) baseline_=float(M) _seed=int n_estimators_=int n_trees_per_iteration_=int
        max_features_=int train_score_=float(*) oob_improvement_?=float(*) oob_scores_?=float(*) oob_score_?=float
        init_?=learner ;
        classes_=label(2) _trees=Trees(*,1) baseline_=float(1) _seed=int n_estimators_=int n_trees_per_iteration_=int
        max_features_=int train_score_=float(*) oob_improvement_?=float(*) oob_scores_?=float(*) oob_score_?=float
        init_?=learner""",
    ),
    63: (
        "GradientBoostingRegressor",
        """
        _flat=bool _trees=Trees(*,1) baseline_=float(1) _seed=int n_estimators_=int n_trees_per_iteration_=int
        max_features_=int train_score_=float(*) oob_improvement_?=float(*) oob_scores_?=float(*) oob_score_?=float
        init_?=learner""",
    ),
    66: ("DecisionTreeClassifier", "classes_=label(K) _trees=Trees(1,K) max_features_=int"),
    67: ("DecisionTreeRegressor", "_flat=bool _trees=Trees(1,1) max_features_=int"),
    68: (
        "RandomForestClassifier",
        "classes_=label(K) _trees=Trees(t,K) _sums=float(n,K) _times=int(n) _seed=int _oob_score=float|none",
    ),
    69: (
        "RandomForestRegressor",
        """
        _flat=bool _trees=Trees(t,1) _sums=float(n,1) _times=int(n) _seed=int _oob_score=float|none
        _targets?=float(n) _target_weights?=float(n) _by_leaf?=int(t,n)<n _leaf_rows?=int(*)""",
    ),
    70: (
        "ExtraTreesClassifier",
        "classes_=label(K) _trees=Trees(t,K) _sums=float(n,K) _times=int(n) _seed=int _oob_score=float|none",
    ),
    71: (
        "ExtraTreesRegressor",
        """
        _flat=bool _trees=Trees(t,1) _sums=float(n,1) _times=int(n) _seed=int _oob_score=float|none
        _targets?=float(n) _target_weights?=float(n) _by_leaf?=int(t,n)<n _leaf_rows?=int(*)""",
    ),
    76: (
        "ID3Classifier",
        "classes_=label(K) tree_=ManyWay(n,K) edges_=[float(*)](p) category_=bool(p)",
    ),
    77: ("C45Classifier", "classes_=label(K) tree_=ManyWay(n,K) category_=bool(p)"),
    78: (
        "BaggingClassifier",
        """
        classes_=label(K) estimators_=[part](t) estimators_features_=[int(*)<p](t) oob_score_?=float
        oob_decision_function_?=real(n,K) _seed=int""",
    ),
    79: (
        "BaggingRegressor",
        """
        estimators_=[part](t) estimators_features_=[int(*)<p](t) oob_score_?=float
        oob_prediction_?=real(n) _seed=int _flat=bool""",
    ),
    80: (
        "AdaBoostClassifier",
        """
        classes_=label(K) estimator_weights_=float(t) estimator_errors_=float(t) _trees=Trees(t,K) ;
        classes_=label(K) estimator_weights_=float(t) estimator_errors_=float(t) estimators_=[learner](t)""",
    ),
    81: (
        "AdaBoostRegressor",
        """
        estimator_weights_=float(t) estimator_errors_=float(t) _trees=Trees(t,1) _flat=bool ;
        estimator_weights_=float(t) estimator_errors_=float(t) estimators_=[learner](t) _flat=bool""",
    ),
    82: (
        "CascadeClassifier",
        """
        classes_=label(K) estimators_=[learner](t) thresholds_=float(t) positive_=str|int|float|bool miss_bound_=float
        held_out_miss_=float pass_rate_=float(t) stage_costs_=float(t) cost_=float others_?=learner""",
    ),
}

# Number -> module and name of a statistic, forms of its fields.
STATISTICS: dict[int, tuple[str, str, str]] = {
    1: (
        "tenfold.core.stats",
        "Moments",
        """
        weight=float center=float(m) offset=float(m) scatter=float(m,m) ;
        weight=float(g) center=float(g,m) offset=float(g,m) scatter=float(g,m,m)""",
    ),
    2: (
        "tenfold.core.stats",
        "Spread",
        """
        weight=float(g) center=float(g,m) offset=float(g,m) scatter=real(g,m)""",
    ),
    3: ("tenfold.core.stats", "Counts", "weight=float(g)"),
    4: ("tenfold.solve.columns", "Distinct", "values=[real(*)](n) weights=[float(*)](n)"),
    5: ("tenfold.reduce.pca", "Table", "moments=Moments(m) rows=pieces ; moments=none rows=pieces"),
    6: ("tenfold.prepare.impute", "Filled", "values=Spread(m,1)|Distinct(m) missing=Counts(m)"),
    7: (
        "tenfold.tree.packed",
        "Trees",
        """
        first=int(*) children_left=int(n) children_right=int(n) feature=int(n) threshold=real(n)
        missing_go_to_left=byte(n) subset=int(n) bits=hash(*) value=float(n,k) impurity=float(n) gain=float(n)
        n_node_samples=int(n) weighted_n_node_samples=float(n)""",
    ),
    8: (
        "tenfold.tree.manyway",
        "ManyWay",
        """
        feature=int(n) threshold=real(n) gain=float(n) counts=float(n,k) first=int(n+1) value=real(b) child=int(b)""",
    ),
    11: ("tenfold.linear.weighted", "Weighed", "moments=Moments(m) rows=float log_variance=float"),
}
# The array of a statistic whose shape a form gives, and the field that holds values of the training table.
LEADING: dict[str, Callable[[Any], Any]] = {
    "Moments": lambda s: s.center,
    "Spread": lambda s: s.center,
    "Counts": lambda s: s.weight,
    "Distinct": lambda s: np.empty(len(s.values)),
    "Table": lambda s: s.rows[0][0][0] if s.moments is None else s.moments.center,
    "Filled": lambda s: s.missing.weight,
    "Weighed": lambda s: s.moments.center,
    "Trees": lambda s: np.empty((len(s), s.value.shape[1])),
    "ManyWay": lambda s: s.counts,
}
ROWS_IN = {"Distinct": "values", "Table": "rows"}
# Learners that keep rows they were fitted on: always, or where a parameter has this value.
KEEPS_ROWS: dict[str, tuple[str, Any] | None] = {"KernelRegressor": None, "RadialBasisFeatures": ("centers", "sample")}
# Fitted attributes that are columns of the training table, in whichever learner they are.
TRAINING_COLUMNS = {"_rows", "_targets"}

NUMBER_OF_LEARNER = {name: number for number, (name, _) in LEARNERS.items()}
NUMBER_OF_STATISTIC = {(module, name): number for number, (module, name, _) in STATISTICS.items()}

Sizes = dict[str, int]
SCALARS: dict[str, Callable[[Any], bool]] = {
    "float": lambda v: isinstance(v, (float, int, np.floating)) and v is not True and bool(np.isfinite(v)),
    "int": lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, (bool, np.bool_)),
    "str": lambda v: isinstance(v, str),
    "none": lambda v: v is None,
    "inf": lambda v: v == np.inf,
    "levels": lambda v: v is None or _has_form(v, "label(*)", {}),
    "pieces": lambda v: isinstance(v, tuple) and all(map(_is_piece, v)),
    "names": lambda v: isinstance(v, dict) and all(isinstance(x, str) for pair in v.items() for x in pair),
}
ARRAYS: dict[str, Callable[[Any], bool]] = {
    "float": lambda a: a.dtype in (np.float32, np.float64) and bool(np.isfinite(a).all()),
    "real": lambda a: a.dtype in (np.float32, np.float64),
    "int": lambda a: a.dtype in (np.int32, np.int64),
    "hash": lambda a: a.dtype == np.uint64,
    "byte": lambda a: a.dtype == np.uint8,
    "bool": lambda a: a.dtype == np.bool_,
    "text": lambda a: a.dtype == object,
    "label": lambda a: a.dtype.kind in "OUbif",
}
FORM = re.compile(
    r"(?P<list>\[)?(?P<kind>\w+)(:(?P<binds>\w))?(\((?P<shape>[^)]*)\))?"
    r"(<(?P<below>\w))?(\]\((?P<length>\w)\))?"
)


def objection(attributes: dict[str, Any], forms: str) -> str | None:
    """Why these attributes are not of one of the variants of `forms`, or None if they are."""
    reason = None
    for variant in forms.split(";"):
        reason = _variant_objection(attributes, variant)
        if reason is None:
            return None
    return reason


def _variant_objection(attributes: dict[str, Any], variant: str) -> str | None:
    sizes: Sizes = {}
    left = set(attributes)
    for item in variant.split():
        name, _, forms = item.partition("=")
        optional, name = name.endswith("?"), name.rstrip("?")
        if name not in attributes:
            if not optional:
                return f"{name} is missing"
            continue
        left.discard(name)
        for form in forms.split("|"):
            found = dict(sizes)
            if _has_form(attributes[name], form, found):
                sizes = found
                break
        else:
            known = ", ".join(f"{letter} = {size}" for letter, size in sizes.items())
            return f"{name} is not {forms.replace('|', ' or ')} where {known}"
    return f"{min(left)} does not belong there" if left else None


def _has_form(value: Any, form: str, sizes: Sizes) -> bool:
    """Whether the value has the form; letters that are met for the first time are entered into `sizes`."""
    parts = FORM.fullmatch(form)
    assert parts is not None, form
    kind, shape = parts["kind"], parts["shape"]
    if parts["list"]:
        inner = form[1 : form.index("]")]
        return (
            isinstance(value, list)
            and _agrees(len(value), parts["length"], sizes)
            and all(_has_form(one, inner, sizes) for one in value)
        )
    if kind == "part":
        return "n_features_in_" in getattr(value, "__dict__", {})
    if kind == "learner":
        return "n_features_in_" in getattr(value, "__dict__", {}) and value.n_features_in_ == sizes["p"]
    if shape is None:
        if not SCALARS[kind](value):
            return False
        return parts["binds"] is None or (value >= 1 and _agrees(int(value), parts["binds"], sizes))
    if kind in LEADING:
        if statistic_number(value) is None or type(value).__name__ != kind:
            return False
        kind, value = "real", LEADING[kind](value)
    dims = shape.split(",")
    if not isinstance(value, np.ndarray) or value.ndim != len(dims):
        return False
    if not all(_agrees(size, dim, sizes) for size, dim in zip(value.shape, dims, strict=True)):
        return False
    if parts["below"] and value.size and not (value.min() >= 0 and value.max() < sizes[parts["below"]]):
        return False
    return ARRAYS[kind](value)


def _agrees(size: int, dim: str, sizes: Sizes) -> bool:
    if dim == "*":
        return True
    if dim.isalpha():
        if dim == "M" and size < 3:
            return False
        return sizes.setdefault(dim, size) == size
    known = sum(int(part) if part.isdigit() else sizes[part] for part in dim.split("+"))
    return known == size


def _is_piece(piece: Any) -> bool:
    """Rows of finite numbers with their weights."""
    sizes: Sizes = {}
    return (
        isinstance(piece, tuple)
        and len(piece) == 2
        and _has_form(piece[0], "float(n,m)", sizes)
        and _has_form(piece[1], "float(n)", sizes)
    )


def statistic_number(value: Any) -> int | None:
    """The number of a statistic, or None for anything else."""
    return NUMBER_OF_STATISTIC.get((type(value).__module__, type(value).__name__))


def statistic_class(number: int) -> Any:
    """The class of a statistic; the module is named here, never in a file."""
    module, name, _ = STATISTICS[number]
    return getattr(import_module(module), name)


def forms_of(number: int) -> str:
    """The forms of a kind of learner, with those that all learners share."""
    return ";".join(FACTS + variant for variant in LEARNERS[number][1].split(";"))


def names_in(forms: str) -> set[str]:
    """The attributes that the forms name."""
    return {item.partition("=")[0].rstrip("?") for item in forms.replace(";", " ").split()}


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a statistic by name."""
    return {f.name: getattr(value, f.name) for f in fields(value)}
