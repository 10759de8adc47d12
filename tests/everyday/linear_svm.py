from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

X, y = load_iris(return_X_y=True)
model = make_pipeline(StandardScaler(), LinearSVC(C=0.5, tol=1e-9, dual=False)).fit(X, y)
result = {"classes": model.predict(X), "scores": model.decision_function(X), "score": model.score(X, y), "coef": model[-1].coef_}
rtol, atol = 1e-4, 1e-4
