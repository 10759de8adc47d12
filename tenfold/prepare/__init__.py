"""Transformers that prepare columns for the learner behind them."""

# Public name -> the module of this folder that defines it. After a new line: python tools/generate
PUBLIC = {
    "StandardScaler": "scale",
    "MinMaxScaler": "minmax",
    "MaxAbsScaler": "minmax",
    "DecimalScaler": "minmax",
    "RobustScaler": "robust",
    "RankTransformer": "rank",
    "QuantileTransformer": "quantile",
    "PowerTransformer": "power",
    "Whitener": "whiten",
    "LogTransformer": "logarithm",
    "Normalizer": "rows",
    "Binarizer": "rows",
    "OneHotEncoder": "encode",
    "OrdinalEncoder": "ordinal",
    "SimpleImputer": "impute",
    "MissingIndicator": "indicate",
    "PolynomialFeatures": "basis",
    "FunctionTransformer": "function",
    "SplineTransformer": "spline",
    "RadialBasisFeatures": "radial",
    "AnscombeTransformer": "anscombe",
    "KBinsDiscretizer": "discretize",
    "KNNImputer": "neighbours",
    "EMImputer": "em",
    "LabelEncoder": "labels",
    "LabelBinarizer": "labels",
    "MultiLabelBinarizer": "labels",
    "label_binarize": "labels",
    "Prepare": "prepare",
}

# Found by name when a file is loaded, but not offered: the part of `Prepare` that `tenfold.select` uses by itself.
INSIDE = {"TableCoder": "coder"}
