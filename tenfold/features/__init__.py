"""Selection of columns by a score of each, by their variance, by their correlation. What asks a learner is in `compose`."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "f_classif": "scores",
    "f_regression": "scores",
    "r_regression": "scores",
    "chi2": "scores",
    "mutual_info_classif": "mutual_info",
    "mutual_info_regression": "mutual_info",
    "information_gain": "information",
    "gain_ratio": "information",
    "SelectKBest": "selectors",
    "SelectPercentile": "selectors",
    "SelectFpr": "selectors",
    "SelectFdr": "selectors",
    "SelectFwe": "selectors",
    "GenericUnivariateSelect": "selectors",
    "VarianceThreshold": "variance",
    "CorrelationFilter": "correlation",
}
