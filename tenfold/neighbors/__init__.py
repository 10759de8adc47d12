"""Learners that keep rows and ask the nearest of them."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "NearestNeighbors": "nearest",
    "KNeighborsClassifier": "classify",
    "KNeighborsRegressor": "regress",
    "RadiusNeighborsClassifier": "around",
    "RadiusNeighborsRegressor": "around",
    "LocalOutlierFactor": "outliers",
    "NeighborDensity": "density",
    "CondensedNearestNeighbor": "condensed",
    "EditedNearestNeighbors": "condensed",
    "NeighborhoodComponentsAnalysis": "components",
    "LargeMarginNearestNeighbor": "large_margin",
}
