from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB

X, y = load_breast_cancer(return_X_y=True)
found = cross_validate(
    GaussianNB(), X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0), scoring=["accuracy", "roc_auc", "f1"],
    return_train_score=True, return_estimator=True,
)
result = {key: found[key] for key in found if key.startswith(("test_", "train_"))}
result["keys"] = sorted(found)
result["theta"] = found["estimator"][0].theta_
