from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=40, random_state=0).fit(X[:400], y[:400])
result = {"score": model.score(X[400:], y[400:]), "members": len(model.estimators_), "errors": len(model.estimator_errors_)}
atol = 0.03
