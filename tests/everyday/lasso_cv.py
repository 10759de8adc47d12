from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNetCV, LassoCV

X, y = load_diabetes(return_X_y=True)
lasso = LassoCV(cv=5, alphas=30, tol=1e-8, max_iter=20000).fit(X, y)
net = ElasticNetCV(cv=5, l1_ratio=[0.5, 0.9], alphas=20, tol=1e-8, max_iter=20000).fit(X, y)
result = {
    "alpha": lasso.alpha_,
    "alphas": lasso.alphas_,
    "path": lasso.mse_path_.mean(axis=1),
    "coef": lasso.coef_,
    "ratio": net.l1_ratio_,
    "net": net.coef_,
}
rtol, atol = 1e-4, 1e-3
