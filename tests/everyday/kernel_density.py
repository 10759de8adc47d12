import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

X = PCA(n_components=5, svd_solver="full").fit_transform(load_digits().data[:300])
search = GridSearchCV(KernelDensity(), {"bandwidth": np.logspace(0, 1, 5)}, cv=3).fit(X)
kde = search.best_estimator_
one = KernelDensity(kernel="epanechnikov", bandwidth=2.0).fit(X[:, :1], sample_weight=np.arange(1, 301))
result = {
    "bandwidth": kde.bandwidth,
    "log_density": kde.score_samples(X[:20]),
    "score": kde.score(X),
    "shape": kde.sample(44, random_state=0).shape,
    "weighted": np.exp(one.score_samples(np.linspace(-30, 30, 50)[:, None])),
}
