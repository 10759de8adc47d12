import numpy as np
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold

X, y = load_iris(return_X_y=True)
scores, tests = [], []
for train, test in StratifiedKFold(n_splits=5, shuffle=True, random_state=7).split(X, y):
    scores.append(QuadraticDiscriminantAnalysis().fit(X[train], y[train]).score(X[test], y[test]))
    tests.append(test)
result = {"scores": scores, "tests": np.concatenate(tests)}
