import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, RegressorChain
from sklearn.naive_bayes import GaussianNB

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(200, 3)) > 0).astype(int)
words = np.column_stack([np.where(Y[:, 0], "warm", "cold"), np.array(["a", "b", "c"])[Y[:, 1] + Y[:, 2]]])
labels = OneVsRestClassifier(LogisticRegression(tol=1e-8)).fit(X, Y)
each = MultiOutputClassifier(GaussianNB()).fit(X, words)
chain = ClassifierChain(LogisticRegression(tol=1e-8), order=[2, 0, 1]).fit(X, Y)
numbers = RegressorChain(Ridge()).fit(X, np.column_stack([X[:, 0] ** 2, X[:, 0] ** 2 + X[:, 1]]))
parts = OneVsRestClassifier(GaussianNB())
parts.partial_fit(X[:100], Y.sum(axis=1)[:100], classes=np.arange(4)).partial_fit(X[100:], Y.sum(axis=1)[100:])
result = {
    "labels": labels.predict(X), "shares": labels.predict_proba(X), "is": labels.multilabel_, "right": labels.score(X, Y),
    "words": each.predict(X), "each": each.predict_proba(X)[1], "chain": chain.predict(X), "links": chain.predict_proba(X),
    "order": chain.order_, "numbers": numbers.predict(X), "parts": parts.predict(X),
}  # fmt: skip
rtol, atol = 1e-3, 1e-4
