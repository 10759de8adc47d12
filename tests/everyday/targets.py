import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.multioutput import MultiOutputRegressor

X, y = load_diabetes(return_X_y=True)
logged = TransformedTargetRegressor(LinearRegression(), func=np.log1p, inverse_func=np.expm1).fit(X, y)
both = MultiOutputRegressor(Lasso(alpha=0.1, tol=1e-9, max_iter=10000)).fit(X, np.column_stack([y, -y]))
result = {"logged": logged.predict(X), "inner": logged.regressor_.coef_, "both": both.predict(X), "n": len(both.estimators_)}
rtol = 1e-4
