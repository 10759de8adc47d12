from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

X, y = make_classification(600, weights=[0.85], random_state=0)
model = TunedThresholdClassifierCV(LogisticRegression(tol=1e-8), scoring="f1", cv=4).fit(X, y)
result = {"threshold": model.best_threshold_, "score": model.best_score_, "labels": model.predict(X).sum()}
rtol = 0.01
