import numpy as np
from sklearn.decomposition import FastICA

rng = np.random.default_rng(0)
t = np.linspace(0, 8, 2000)
S = np.column_stack([np.sin(2 * t), np.sign(np.sin(3 * t)), rng.laplace(size=len(t))])
X = S @ np.array([[1.0, 1.0, 1.0], [0.5, 2.0, 1.0], [1.5, 1.0, 2.0]])
ica = FastICA(n_components=3, whiten="unit-variance", random_state=0, tol=1e-9)
found = ica.fit_transform(X)
order = np.abs(np.corrcoef(found.T, S.T)[:3, 3:]).argmax(axis=0)
result = {
    "sources": abs(found[:, order]),
    "mixing": abs(ica.mixing_[:, order]),
    "back": ica.inverse_transform(found),
    "names": ica.get_feature_names_out(),
}
rtol, atol = 1e-4, 1e-4
