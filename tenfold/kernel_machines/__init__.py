"""Learners that know rows by their kernels with the rows that they keep."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "GaussianProcessClassifier": "gaussian_classifier",
    "GaussianProcessRegressor": "gaussian_process",
    "KernelPCA": "pca",
    "KernelRidge": "ridge",
    "NuSVC": "nu",
    "NuSVR": "nu",
    "Nystroem": "landmarks",
    "OneClassSVM": "one_class",
    "RBFSampler": "landmarks",
    "SVC": "svc",
    "SVR": "svr",
    "SparseGaussianProcessRegressor": "sparse_process",
}
