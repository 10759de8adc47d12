import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_diabetes(return_X_y=True)
w = np.linspace(0.5, 2.0, len(y))
pipe = Pipeline([("scale", StandardScaler()), ("clf", Ridge())]).fit(X, y, clf__sample_weight=w)
result = {"coef": pipe.named_steps.clf.coef_, "score": pipe.score(X, y, sample_weight=w)}
