"""Densities of rows, and what is unusual under them."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "BayesianGaussianMixture": "bayesian_mixture",
    "CopulaDensity": "copula",
    "DensityForest": "forest",
    "DensityTree": "tree",
    "GaussianDensity": "gaussian",
    "GaussianMixture": "mixture",
    "Histogram": "histogram",
    "KernelDensity": "kernel",
}
