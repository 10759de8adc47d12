import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline


class Clip(TransformerMixin, BaseEstimator):
    def __init__(self, share=0.05):
        self.share = share

    def fit(self, X, y=None):
        self.low_, self.high_ = np.quantile(X, [self.share, 1 - self.share], axis=0)
        return self

    def transform(self, X):
        return np.clip(X, self.low_, self.high_)


X, y = load_diabetes(return_X_y=True)
pipe = Pipeline([("clip", Clip()), ("ridge", Ridge(0.1))])
search = GridSearchCV(pipe, {"clip__share": [0.0, 0.05, 0.2], "ridge__alpha": [0.01, 1.0]}, cv=4).fit(X, y)
result = {"best": sorted(search.best_params_.items()), "means": search.cv_results_["mean_test_score"]}
