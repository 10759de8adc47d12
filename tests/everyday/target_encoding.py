import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

rng = np.random.default_rng(0)
X = rng.choice(["red", "green", "blue"], (90, 2)).astype(object)
y = rng.normal(size=90) + (X[:, 0] == "red")
folds = KFold(3, shuffle=True, random_state=0)
encoder = TargetEncoder(smooth="auto", cv=folds)
result = {
    "train": encoder.fit_transform(X, y),
    "new": encoder.transform([["red", "violet"]]),
    "codes": np.concatenate(encoder.encodings_),
    "mean": encoder.target_mean_,
    "scores": cross_val_score(make_pipeline(TargetEncoder(cv=folds), Ridge()), X, y, cv=KFold(3)),
}
