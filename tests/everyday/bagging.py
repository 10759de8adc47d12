from sklearn.datasets import load_wine
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

X, y = load_wine(return_X_y=True)
model = BaggingClassifier(DecisionTreeClassifier(), n_estimators=60, oob_score=True, random_state=0).fit(X, y)
result = {"oob": model.oob_score_, "score": model.score(X, y), "members": len(model.estimators_)}
atol = 0.04
