from sklearn.datasets import load_diabetes
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline

X, y = load_diabetes(return_X_y=True)
forward = SequentialFeatureSelector(LinearRegression(), n_features_to_select=4).fit(X, y)
pipe = make_pipeline(SequentialFeatureSelector(Ridge(alpha=0.01), direction="backward", tol=-1e-3), LinearRegression()).fit(X, y)
left = RFECV(Ridge(alpha=0.01), cv=5).fit(X, y)
result = {
    "forward": forward.get_support(),
    "guess": pipe.predict(X),
    "ranking": left.ranking_,
    "scores": left.cv_results_["mean_test_score"],
}
