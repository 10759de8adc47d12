from sklearn.datasets import load_diabetes, load_iris
from sklearn.preprocessing import StandardScaler
from sklearn.svm import NuSVC, NuSVR, OneClassSVM

X, y = load_iris(return_X_y=True)
A, b = load_diabetes(return_X_y=True)
A = StandardScaler().fit_transform(A)
classes = NuSVC(nu=0.3, tol=1e-8).fit(X, y)
numbers = NuSVR(nu=0.4, C=10.0, tol=1e-8).fit(A, b)
region = OneClassSVM(nu=0.1, tol=1e-8).fit(X)
result = {
    "classes": classes.predict(X), "scores": classes.decision_function(X), "numbers": numbers.predict(A), "usual": region.score_samples(X),
    "inside": region.decision_function(X).mean(),
}  # fmt: skip
rtol, atol = 1e-4, 1e-4
