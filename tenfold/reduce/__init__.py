"""Fewer columns from many."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "FastICA": "ica",
    "NMF": "nmf",
    "PCA": "pca",
}
