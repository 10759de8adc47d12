import numpy as np
import sklearn
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate

X, y = load_diabetes(return_X_y=True)
w = np.linspace(0.5, 2.0, len(y))
with sklearn.config_context(enable_metadata_routing=True):
    model = Ridge().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    found = cross_validate(model, X, y, cv=4, params={"sample_weight": w})
result = {"scores": found["test_score"]}
