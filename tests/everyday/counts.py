import numpy as np
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# Claims of policies that ran for a part of the year: how often, how much, and what they cost in a year.
rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
exposure = rng.uniform(0.2, 1.0, 600)
claims = rng.poisson(exposure * np.exp(0.4 * X[:, 0] - 0.3 * X[:, 1]))
amount = claims * rng.gamma(2.0, 0.5 * np.exp(0.2 * X[:, 2]))

frequency = make_pipeline(StandardScaler(), PoissonRegressor(alpha=1e-3, solver="newton-cholesky", tol=1e-10))
frequency.fit(X, claims / exposure, poissonregressor__sample_weight=exposure)
some = claims > 0
severity = GammaRegressor(alpha=1e-2, solver="newton-cholesky", tol=1e-10)
severity.fit(X[some], amount[some] / claims[some], sample_weight=claims[some])
whole = TweedieRegressor(power=1.5, alpha=1e-2, solver="newton-cholesky", tol=1e-10).fit(X, amount / exposure, exposure)

train, test = train_test_split(np.arange(600), random_state=0)
search = GridSearchCV(PoissonRegressor(solver="newton-cholesky", tol=1e-10), {"alpha": [1e-3, 0.1, 10.0]}, cv=4)
search.fit(X[train], claims[train])

result = {
    "frequency": frequency.predict(X[:50]),
    "coefficients": frequency[-1].coef_,
    "severity": severity.predict(X[:50]),
    "explained": severity.score(X[some], amount[some] / claims[some], sample_weight=claims[some]),
    "whole": whole.predict(X[:50]),
    "alpha": search.best_params_["alpha"],
    "deviance": mean_poisson_deviance(claims[test], search.predict(X[test])),
    "D2": cross_val_score(whole, X, amount / exposure, cv=4),
}
