import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV

X, y = load_diabetes(return_X_y=True)
w = np.linspace(0.5, 2.0, len(y))
plain = RidgeCV(alphas=np.logspace(-3, 2, 12)).fit(X, y)
weighted = RidgeCV(alphas=np.logspace(-3, 2, 12), cv=5).fit(X, y, sample_weight=w)
result = {"alpha": plain.alpha_, "coef": plain.coef_, "best": plain.best_score_, "weighted": weighted.alpha_}
