"""Linear models: y ≈ X w + b, and classes by their scores."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "LinearRegression": "least_squares",
    "WeightedLeastSquares": "weighted",
    "GeneralizedLeastSquares": "generalized",
    "ReweightedLeastSquares": "reweighted",
    "TotalLeastSquares": "total",
    "Ridge": "ridge",
    "RidgeCV": "ridge_cv",
    "Lasso": "lasso",
    "ElasticNet": "lasso",
    "LassoCV": "lasso_cv",
    "ElasticNetCV": "lasso_cv",
    "LassoLars": "lars",
    "Lars": "lars",
    "OrthogonalMatchingPursuit": "pursuit",
    "NonNegativeLeastSquares": "nonnegative",
    "GroupLasso": "group",
    "HuberRegressor": "robust",
    "MMRegressor": "mm",
    "QuantileRegressor": "quantile",
    "LeastAbsoluteDeviations": "deviations",
    "LinearSVR": "svr",
    "BayesianRidge": "bayesian",
    "LogisticRegression": "logistic",
}
