from sklearn.calibration import CalibratedClassifierCV, calibration_curve
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(2000, 8, random_state=5)
model = CalibratedClassifierCV(GaussianNB(), method="isotonic", cv=5).fit(X[:1500], y[:1500])
true, guessed = calibration_curve(y[1500:], model.predict_proba(X[1500:])[:, 1], n_bins=5)
result = {"shares": model.predict_proba(X[1500:]), "true": true, "guessed": guessed}
atol = 1e-6
