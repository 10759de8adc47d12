"""What a saved model may hold: a number for each kind of learner, and the form of each of its fitted attributes.

A file names a kind by its number and nothing else, so it cannot name code. Numbers are for ever. The language of the forms is
explained in `saved.forms`; the numbers of statistics are in `saved.statistics`.
"""

from __future__ import annotations

from typing import Any

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
        n_iter_=int _flat=bool stats_?=Moments(p+1)|FewRows(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) rank_?=int singular_?=float(*) condition_?=float|inf
        solver_=str n_iter_=int _flat=bool stats_?=Moments(p+q)|FewRows(p+q)""",
    ),
    2: (
        "Ridge",
        """
        coef_=float(p) intercept_=float n_iter_=int _flat=bool stats_?=Moments(p+1)|FewRows(p+1) ;
        coef_=float(q,p) intercept_=float|float(q) n_iter_=int _flat=bool stats_?=Moments(p+q)|FewRows(p+q)""",
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
    13: ("TableModel", "feature_names_in_=text(p) target_=str reach_?=float reaches_?=float(2,k)"),
    14: (
        "TableCoder",
        """
        feature_names_in_=text(p) category_=bool(p) blank_=bool(p) reference_=text(p) levels_=[text(*)](p) pooled_=bool(p)
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
    51: ("PolynomialFeatures", "powers_=int(m,p)>=0 n_output_features_=int:m stats_?=Counts(1)"),
    52: ("FunctionTransformer", "n_output_features_=int:m stats_?=Counts(2)"),
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
    66: ("DecisionTreeClassifier", "classes_=label(K) _trees=Trees(1,K) max_features_=int blank_?=bool(p)"),
    67: ("DecisionTreeRegressor", "_flat=bool _trees=Trees(1,1) max_features_=int blank_?=bool(p)"),
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
        "classes_=label(K) tree_=ManyWay(n,K) edges_=[float(*)](p) category_=bool(p) blank_?=bool(p)",
    ),
    77: ("C45Classifier", "classes_=label(K) tree_=ManyWay(n,K) category_=bool(p) blank_?=bool(p)"),
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
    83: ("OneHotEncoder", "categories_=[levels](p) levels_=[int(*)](p) rare_=int(p)"),
    84: ("OrdinalEncoder", "categories_=[levels](p) levels_=[int(*)](p) rare_=int(p)"),
}

# Learners that keep rows they were fitted on: always, or where a parameter has this value.
KEEPS_ROWS: dict[str, tuple[str, Any] | None] = {"KernelRegressor": None, "RadialBasisFeatures": ("centers", "sample")}
# Fitted attributes that are columns of the training table, in whichever learner they are.
TRAINING_COLUMNS = {"_rows", "_targets"}

NUMBER_OF_LEARNER = {name: number for number, (name, _) in LEARNERS.items()}


def forms_of(number: int) -> str:
    """The forms of a kind of learner, with those that all learners share."""
    return ";".join(FACTS + variant for variant in LEARNERS[number][1].split(";"))
