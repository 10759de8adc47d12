from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

X, y = load_iris(return_X_y=True)
model = make_pipeline(StandardScaler(), SVC(C=2.0, tol=1e-8)).fit(X, y)
search = GridSearchCV(SVC(), {"C": [0.1, 1.0, 10.0], "kernel": ["linear", "rbf"]}, cv=3).fit(X, y)
A, b = load_diabetes(return_X_y=True)
line = make_pipeline(StandardScaler(), SVR(C=10.0, tol=1e-8)).fit(A, b)
result = {
    "classes": model.predict(X), "scores": model.decision_function(X), "vectors": model[-1].support_,
    "folds": cross_val_score(model, X, y, cv=3), "best": search.best_params_["C"], "numbers": line.predict(A), "R2": line.score(A, b),
}  # fmt: skip
rtol, atol = 1e-4, 1e-4
