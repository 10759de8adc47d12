import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import cross_val_score


def worst(y_true, y_pred):
    return np.max(np.abs(y_true - y_pred))


X, y = load_diabetes(return_X_y=True)
result = {
    "mae": cross_val_score(Ridge(), X, y, cv=5, scoring=make_scorer(mean_absolute_error, greater_is_better=False)),
    "worst": cross_val_score(Ridge(), X, y, cv=5, scoring=make_scorer(worst, greater_is_better=False)),
    "named": cross_val_score(Ridge(), X, y, cv=5, scoring="neg_root_mean_squared_error"),
}
