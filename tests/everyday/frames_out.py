import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.preprocessing import OneHotEncoder, StandardScaler

frame = load_iris(as_frame=True).frame
frame["target"] = frame["target"].map({0: "setosa", 1: "versicolor", 2: "virginica"})
scaled = StandardScaler().set_output(transform="pandas").fit_transform(frame.drop(columns="target"))
both = make_column_transformer(
    (StandardScaler(), ["sepal length (cm)"]), (OneHotEncoder(sparse_output=False), ["target"]),
    verbose_feature_names_out=False,
).set_output(transform="pandas")
wide = both.fit_transform(frame)
assert isinstance(scaled, pd.DataFrame) and scaled.index.equals(frame.index)
result = {"columns": list(scaled.columns), "values": scaled.to_numpy(), "wide": list(wide.columns), "cells": wide.to_numpy(float)}
