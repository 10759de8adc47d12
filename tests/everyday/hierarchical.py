from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

table = load_wine()
X = StandardScaler().fit_transform(table.data)
result = {}
for linkage in ("ward", "average", "complete"):
    model = AgglomerativeClustering(n_clusters=3, linkage=linkage).fit(X)
    result[linkage] = adjusted_rand_score(table.target, model.labels_)
tree = AgglomerativeClustering(n_clusters=None, distance_threshold=20.0).fit(X)
result |= {"clusters": tree.n_clusters_, "heights": tree.distances_[-5:], "merges": tree.children_[-5:]}
