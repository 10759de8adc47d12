from sklearn.datasets import load_iris
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV

X, y = load_iris(return_X_y=True)
model = RidgeClassifier(alpha=0.5, class_weight="balanced").fit(X, y)
chosen = RidgeClassifierCV(alphas=[1e-3, 1e-1, 10.0]).fit(X, y)
scores = model.decision_function(X)
result = {"coef": model.coef_, "intercept": model.intercept_, "scores": scores, "alpha": chosen.alpha_, "cv": chosen.score(X, y)}
rtol, atol = 1e-8, 1e-8
