import numpy as np
from sklearn.impute import SimpleImputer

X = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 8.0], [5.0, 4.0]])
texts = np.array([["a"], [None], ["b"], ["a"]], dtype=object)
marked = SimpleImputer(strategy="mean", add_indicator=True).fit_transform(X)
result = {
    "marked": marked,
    "median": SimpleImputer(strategy="median").fit(X).statistics_,
    "constant": SimpleImputer(strategy="constant", fill_value=-1).fit_transform(X),
    "texts": SimpleImputer(strategy="most_frequent", missing_values=None).fit_transform(texts).ravel().tolist(),
}
