import numpy as np
from sklearn.preprocessing import PowerTransformer, QuantileTransformer, RobustScaler, minmax_scale, robust_scale

rng = np.random.default_rng(0)
X = rng.gamma(2.0, size=(200, 3))
X[::9, 1] = np.nan
robust = RobustScaler(quantile_range=(10, 90)).fit(X)
even = QuantileTransformer(n_quantiles=50, output_distribution="normal").fit(X)
power = PowerTransformer().fit(X)
result = {
    "center": robust.center_,
    "robust": robust.transform(X),
    "even": even.transform(X),
    "back": even.inverse_transform(even.transform(X)),
    "powers": power.lambdas_,
    "normal": power.transform(X),
    "one column": minmax_scale(X[:, 0]),
    "function": robust_scale(X),
}
rtol, atol = 1e-5, 1e-5
