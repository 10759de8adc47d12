"""Classifiers that model the columns of each class."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "GaussianNB": "naive_bayes",
    "MultinomialNB": "counts",
    "ComplementNB": "counts",
    "BernoulliNB": "counts",
    "CategoricalNB": "categorical",
    "HistogramNB": "histogram",
    "MixedNB": "mixed",
    "LinearDiscriminantAnalysis": "discriminant",
    "QuadraticDiscriminantAnalysis": "quadratic",
    "NearestCentroid": "centroid",
}
