import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF, MiniBatchNMF

X = load_digits().data[:150]
nmf = NMF(n_components=6, init="nndsvda", max_iter=500)
W = nmf.fit_transform(X)
kl = NMF(n_components=6, beta_loss="kullback-leibler", solver="mu", init="random", random_state=0, max_iter=40, tol=0)
topics = kl.fit_transform(X + 0.1)
batches = MiniBatchNMF(6, batch_size=50, beta_loss="kullback-leibler", init="random", random_state=0, max_iter=20, tol=0).fit(X)
result = {
    "error": nmf.reconstruction_err_,
    "explained": np.linalg.norm(nmf.inverse_transform(W)),
    "new": np.linalg.norm(X[:20] - nmf.transform(X[:20]) @ nmf.components_),
    "topics": topics @ kl.components_,
    "batches": batches.components_,
    "names": nmf.get_feature_names_out(),
}
rtol, atol = 2e-2, 1e-6
