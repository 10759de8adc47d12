from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier

X, y = load_iris(return_X_y=True)
rest = OneVsRestClassifier(LogisticRegression(tol=1e-8)).fit(X, y)
pairs = OneVsOneClassifier(LogisticRegression(tol=1e-8)).fit(X, y)
result = {"rest": rest.predict(X), "shares": rest.predict_proba(X), "pairs": pairs.predict(X), "n": len(pairs.estimators_)}
rtol, atol = 1e-3, 1e-4
