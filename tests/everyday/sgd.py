from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", alpha=0.01, max_iter=200, random_state=0)).fit(X[:400], y[:400])
part = SGDClassifier(loss="log_loss", average=True, learning_rate="constant", eta0=0.05)
Z = model[0].transform(X)
for start in range(0, 400, 50):
    part.partial_fit(Z[start : start + 50], y[start : start + 50], classes=[0, 1])
numbers, target = load_diabetes(return_X_y=True)
line = make_pipeline(StandardScaler(), SGDRegressor(penalty="elasticnet", alpha=0.1, random_state=0)).fit(numbers, target)
result = {
    "score": model.score(X[400:], y[400:]),
    "chance": model.predict_proba(X[400:])[:, 1].mean(),
    "part": part.score(Z[400:], y[400:]),
    "steps": part.t_,
    "r2": line.score(numbers, target),
    "shapes": [*model[-1].coef_.shape, *line[-1].intercept_.shape],
}
atol = 0.02
