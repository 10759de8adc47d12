import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

x = np.linspace(0, 6, 80)[:, None]
y = np.sin(x[:, 0])
pipe = make_pipeline(SplineTransformer(n_knots=6, degree=3), Ridge(alpha=1e-3)).fit(x, y)
result = {"basis": pipe[0].transform(x), "guess": pipe.predict(x)}
rtol, atol = 1e-6, 1e-9
