import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
X[:, 2] = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=80)
y = X[:, 2].copy()
X[rng.random(X.shape) < 0.1] = np.nan
near = KNNImputer(n_neighbors=3, weights="distance").fit(X)
turn = IterativeImputer(estimator=LinearRegression(), max_iter=60, tol=0.05, imputation_order="roman", skip_complete=True).fit(X)
result = {
    "near": near.transform(X[:10]),
    "turn": turn.transform(X[:10]),
    "rounds": turn.n_iter_,
    "marks": KNNImputer(add_indicator=True).fit_transform(X)[:5],
    "score": make_pipeline(KNNImputer(), LinearRegression()).fit(X, y).score(X, y),
}
