from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score

X, truth = make_blobs(300, centers=4, cluster_std=0.6, random_state=0)
model = KMeans(n_clusters=4, n_init=10, random_state=0).fit(X)
centres = model.cluster_centers_
result = {
    "inertia": model.inertia_,
    "centres": centres[centres[:, 0].argsort()],
    "agreement": adjusted_rand_score(truth, model.labels_),
    "silhouette": silhouette_score(X, model.labels_),
    "new": abs(model.transform(X[:3]).min(axis=1)),
}
rtol = 1e-4
