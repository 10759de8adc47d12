import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
search = LogisticRegressionCV(
    Cs=np.logspace(-2, 1, 7), cv=5, l1_ratios=(0.0,), scoring="neg_log_loss", tol=1e-8, max_iter=1000, use_legacy_attributes=True
)
model = make_pipeline(StandardScaler(), search).fit(X, y)
chosen = model[-1]
result = {
    "C": chosen.C_,
    "scores": chosen.scores_[1].mean(axis=0),
    "path": chosen.coefs_paths_[1][:, 3],
    "coef": chosen.coef_,
    "proba": model.predict_proba(X[:10]),
    "score": model.score(X, y),
}
rtol, atol = 1e-4, 1e-4
