from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.model_selection import cross_val_score

X, y = load_iris(return_X_y=True)
model = GaussianProcessClassifier(kernel=1.0 * RBF(1.0), random_state=0).fit(X, y)
plain = GaussianProcessClassifier()
result = {
    "classes": model.predict(X), "chances": model.predict_proba(X), "score": model.score(X, y), "n_classes": model.n_classes_,
    "evidence": model.log_marginal_likelihood_value_, "theta": model.kernel_.theta, "folds": cross_val_score(plain, X, y, cv=3),
}  # fmt: skip
rtol, atol = 2e-3, 5e-4  # scikit-learn rounds the average sigmoid to three digits
