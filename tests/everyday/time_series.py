import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import TimeSeriesSplit, cross_val_score

t = np.arange(200.0)
y = np.sin(t / 10) + 0.01 * t
X = np.column_stack([np.roll(y, 1), np.roll(y, 2), t])[2:]
result = {
    "scores": cross_val_score(LinearRegression(), X, y[2:], cv=TimeSeriesSplit(5, gap=2)),
    "last": list(TimeSeriesSplit(5, gap=2).split(X))[-1][1],
}
rtol = 1e-5
