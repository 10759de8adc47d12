import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, LeaveOneGroupOut, cross_val_score

rng = np.random.default_rng(0)
X, groups = rng.normal(size=(120, 3)), rng.integers(0, 12, 120)
y = X.sum(axis=1) + groups + rng.normal(size=120)
result = {
    "kfold": cross_val_score(Ridge(), X, y, groups=groups, cv=GroupKFold(4)),
    "left": cross_val_score(Ridge(), X, y, groups=groups, cv=LeaveOneGroupOut()),
    "shuffled": np.concatenate([test for _, test in GroupShuffleSplit(3, random_state=1).split(X, y, groups)]),
}
