from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectFdr, SelectPercentile, VarianceThreshold, chi2, mutual_info_classif
from sklearn.pipeline import make_pipeline

X, y = load_breast_cancer(return_X_y=True)
varied = make_pipeline(VarianceThreshold(0.01), SelectFdr(alpha=1e-6)).fit(X, y)
share = SelectPercentile(chi2, percentile=20).fit(X, y)
result = {
    "kept": varied.transform(X),
    "names": share.get_feature_names_out(),
    "p": share.pvalues_,
    "information": mutual_info_classif(X, y, random_state=0),
}
atol = 1e-10
