import numpy as np
from sklearn.cluster import DBSCAN, HDBSCAN, MeanShift, estimate_bandwidth
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

X, _ = make_blobs(n_samples=300, centers=[[1, 1], [-1, -1], [1, -1]], cluster_std=0.3, random_state=0)
X = StandardScaler().fit_transform(X)
db = DBSCAN(eps=0.3, min_samples=10).fit(X)
shift = MeanShift(bandwidth=estimate_bandwidth(X, quantile=0.2, n_samples=200), bin_seeding=True).fit(X)
scales = HDBSCAN(min_cluster_size=15, min_samples=1, copy=True).fit(X)
result = {
    "dbscan": db.labels_,
    "core": db.core_sample_indices_,
    "noise": int(np.sum(db.labels_ == -1)),
    "centers": shift.cluster_centers_,
    "groups": shift.predict(X),
    "hdbscan": scales.labels_,
    "probabilities": scales.probabilities_,
}
