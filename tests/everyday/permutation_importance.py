from sklearn.datasets import load_diabetes
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

X, y = load_diabetes(return_X_y=True)
model = LinearRegression().fit(X[:300], y[:300])
found = permutation_importance(model, X[300:], y[300:], n_repeats=30, random_state=0)
result = {"order": found.importances_mean.argsort()[-3:], "means": found.importances_mean, "shape": found.importances.shape}
atol = 0.08
