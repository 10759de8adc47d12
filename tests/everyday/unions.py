import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

X, y = load_diabetes(return_X_y=True)
union = FeatureUnion([("pca", PCA(3)), ("squares", FunctionTransformer(np.square))])
pipe = make_pipeline(StandardScaler(), union, Ridge(1.0)).fit(X, y)
result = {"guess": pipe.predict(X), "width": pipe[:-1].transform(X).shape}
rtol = 1e-6
