from scipy.stats import loguniform
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, RandomizedSearchCV

X, y = load_diabetes(return_X_y=True)
search = RandomizedSearchCV(
    Ridge(), {"alpha": loguniform(1e-3, 1e1)}, n_iter=6, cv=KFold(4, shuffle=True, random_state=1), random_state=0,
    scoring="neg_mean_squared_error",
)
search.fit(X, y)
result = {
    "alphas": [p["alpha"] for p in search.cv_results_["params"]],
    "best": search.best_params_["alpha"],
    "means": search.cv_results_["mean_test_score"],
}
