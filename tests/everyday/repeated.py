from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import RepeatedKFold, ShuffleSplit, cross_val_score

X, y = load_diabetes(return_X_y=True)
scores = cross_val_score(LinearRegression(), X, y, cv=RepeatedKFold(n_splits=5, n_repeats=3, random_state=1))
others = cross_val_score(LinearRegression(), X, y, cv=ShuffleSplit(4, test_size=0.25, random_state=2))
result = {"scores": scores, "mean": scores.mean(), "std": scores.std(), "others": others}
