import scipy.sparse as sp
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge

X = sp.random(200, 60, density=0.1, random_state=0, format="csr")
y = X @ range(60)
result = {
    "ridge": Ridge(alpha=0.1, solver="sparse_cg", tol=1e-12).fit(X, y).coef_,
    "net": ElasticNet(alpha=0.01, tol=1e-10, max_iter=100000).fit(X.tocsc(), y).coef_,
    "labels": LogisticRegression(tol=1e-8).fit(X, y > y.mean()).predict(X),
}
rtol, atol = 1e-3, 1e-3
