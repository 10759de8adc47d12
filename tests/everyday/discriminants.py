from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

X, y = load_wine(return_X_y=True)
lda = LinearDiscriminantAnalysis(n_components=2).fit(X, y)
qda = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
result = {
    "lda": lda.predict_proba(X),
    "qda": qda.predict(X),
    "plane": abs(lda.transform(X)),
    "shares": lda.explained_variance_ratio_,
}
rtol, atol = 1e-5, 1e-6
