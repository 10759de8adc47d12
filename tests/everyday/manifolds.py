import numpy as np
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import MDS, TSNE, ClassicalMDS, Isomap, LocallyLinearEmbedding
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

X, t = make_swiss_roll(600, random_state=0)
lle = LocallyLinearEmbedding(n_neighbors=12, n_components=2, eigen_solver="dense").fit(X)
iso = Isomap(n_neighbors=10).fit(X)
along = make_pipeline(Isomap(n_neighbors=10), KNeighborsRegressor()).fit(X[:500], t[:500])
near = MDS(n_components=2, init="classical_mds").fit(X[:150])
tsne = TSNE(perplexity=10, max_iter=300, random_state=0)
result = {
    "map": tsne.fit_transform(X[:120]).shape,
    "steps": tsne.n_iter_,
    "stress": near.stress_,
    "mds": np.abs(near.embedding_),
    "classical": np.abs(ClassicalMDS(n_components=2).fit_transform(X[:150])),
    "error": lle.reconstruction_error_,
    "places": np.abs(lle.embedding_),
    "new": np.abs(lle.transform(X[:5] + 0.01)),
    "names": lle.get_feature_names_out(),
    "ways": iso.dist_matrix_,
    "unrolled": np.abs(iso.fit_transform(X)),
    "score": along.score(X[500:], t[500:]),
}
rtol, atol = 1e-5, 1e-7
