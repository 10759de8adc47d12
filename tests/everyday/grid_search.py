from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_diabetes(return_X_y=True)
pipe = Pipeline([("scale", StandardScaler()), ("ridge", Ridge())])
search = GridSearchCV(pipe, {"ridge__alpha": [0.1, 1.0, 10.0, 100.0]}, cv=5)
search.fit(X, y)
result = {
    "best": search.best_params_["ridge__alpha"],
    "best_score": search.best_score_,
    "means": search.cv_results_["mean_test_score"],
    "split0": search.cv_results_["split0_test_score"],
    "ranks": search.cv_results_["rank_test_score"],
    "coef": search.best_estimator_.named_steps["ridge"].coef_,
    "guess": search.predict(X[:5]),
}
