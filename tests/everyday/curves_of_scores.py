from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

X, y = load_breast_cancer(return_X_y=True)
values = LinearRegression().fit(X[:300], y[:300]).predict(X[300:]).round(2)
false, true, thresholds = roc_curve(y[300:], values)
precision, recall, _ = precision_recall_curve(y[300:], values)
result = {
    "false": false, "true": true, "thresholds": thresholds, "precision": precision, "recall": recall,
    "auc": roc_auc_score(y[300:], values), "ap": average_precision_score(y[300:], values),
}
