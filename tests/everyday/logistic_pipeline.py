from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=42)
pipe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, tol=1e-8))
pipe.fit(X_train, y_train)
shares = pipe.predict_proba(X_test)
result = {
    "accuracy": accuracy_score(y_test, pipe.predict(X_test)),
    "auc": roc_auc_score(y_test, shares[:, 1]),
    "log_loss": log_loss(y_test, shares),
    "shares": shares,
    "coef": pipe[-1].coef_,
    "named": pipe.named_steps.logisticregression.classes_,
}
rtol, atol = 1e-3, 1e-5
