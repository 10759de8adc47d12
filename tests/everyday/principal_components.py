from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
Z = StandardScaler().fit_transform(X)
pca = PCA(n_components=0.9).fit(Z)
result = {
    "n": pca.n_components_,
    "shares": pca.explained_variance_ratio_,
    "sizes": abs(pca.transform(Z)),
    "back": pca.inverse_transform(pca.transform(Z))[:5],
}
rtol, atol = 1e-6, 1e-8
