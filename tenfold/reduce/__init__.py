"""Fewer columns from many."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "FactorAnalysis": "factor_analysis",
    "FastICA": "ica",
    "MiniBatchNMF": "mini_batch_nmf",
    "NMF": "nmf",
    "PCA": "pca",
    "non_negative_factorization": "nmf",
    "RobustPCA": "robust",
    "TruncatedSVD": "svd",
}
