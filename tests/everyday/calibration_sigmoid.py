from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

X, y = make_classification(1000, 10, random_state=3)
model = CalibratedClassifierCV(LogisticRegression(C=0.01, tol=1e-8), method="sigmoid", cv=3).fit(X[:600], y[:600])
shares = model.predict_proba(X[600:])
result = {"shares": shares, "brier": brier_score_loss(y[600:], shares[:, 1]), "members": len(model.calibrated_classifiers_)}
atol = 2e-3
