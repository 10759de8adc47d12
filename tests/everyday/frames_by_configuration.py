import sklearn
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X = load_wine(as_frame=True).data
with sklearn.config_context(transform_output="pandas"):
    made = make_pipeline(StandardScaler(), PCA(n_components=2)).fit_transform(X)
result = {"columns": list(made.columns), "sizes": abs(made.to_numpy())}
rtol = 1e-6
