import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import mean_squared_error

X, y = load_diabetes(return_X_y=True)
model = GradientBoostingRegressor(n_estimators=40, max_depth=2, learning_rate=0.1, random_state=0).fit(X[:300], y[:300])
curve = np.array([mean_squared_error(y[300:], guess) for guess in model.staged_predict(X[300:])])
result = {"first": curve[0], "last": curve[-1], "rounds": len(curve), "train": model.train_score_.shape}
rtol = 0.05
