import numpy as np
from sklearn.linear_model import HuberRegressor, LinearRegression, QuantileRegressor, RANSACRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
y = X @ [2.0, -1.0] + 0.3 + 0.1 * rng.normal(size=200)
y[:30] += 20
huber = HuberRegressor(alpha=0.0, tol=1e-8, max_iter=1000).fit(X, y)
median = QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, y)
ransac = RANSACRegressor(LinearRegression(), residual_threshold=1.0, random_state=0).fit(X, y)
result = {"huber": huber.coef_, "median": median.coef_, "ransac": ransac.estimator_.coef_, "inliers": ransac.inlier_mask_.sum()}
rtol, atol = 1e-3, 1e-3
