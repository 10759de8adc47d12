from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

X, y = make_classification(4000, 20, n_informative=8, random_state=0)
X[::7, 3] = float("nan")
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = HistGradientBoostingClassifier(max_iter=60, early_stopping=True, random_state=0).fit(X_train, y_train)
result = {"accuracy": model.score(X_test, y_test), "loss": log_loss(y_test, model.predict_proba(X_test))}
atol = 0.03
