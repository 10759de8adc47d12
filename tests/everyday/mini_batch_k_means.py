from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

X, truth = make_blobs(2000, centers=4, cluster_std=0.5, random_state=3)
model = MiniBatchKMeans(n_clusters=4, batch_size=200, n_init=10, random_state=0).fit(X)
more = MiniBatchKMeans(n_clusters=4, init=model.cluster_centers_, n_init=1, random_state=0)
for start in range(0, 2000, 200):
    more.partial_fit(X[start : start + 200])
centres = model.cluster_centers_
result = {
    "inertia": model.inertia_,
    "centres": centres[centres[:, 0].argsort()],
    "agreement": adjusted_rand_score(truth, more.predict(X)),
    "batches": more.n_steps_,
}
rtol = 0.05
