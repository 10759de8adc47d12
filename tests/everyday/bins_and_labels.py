import numpy as np
from sklearn.preprocessing import KBinsDiscretizer, LabelBinarizer, LabelEncoder, MultiLabelBinarizer

X = np.random.default_rng(0).normal(size=(60, 2)).round(2)
bins = KBinsDiscretizer(n_bins=4, encode="ordinal", strategy="quantile").fit(X)
wide = KBinsDiscretizer(n_bins=3, strategy="uniform").fit(X)
colours = LabelEncoder().fit(["red", "green", "red"])
sets = MultiLabelBinarizer()
result = {
    "edges": np.concatenate(bins.bin_edges_),
    "bins": bins.transform(X),
    "back": bins.inverse_transform(bins.transform(X)),
    "hot": wide.transform(X).toarray(),
    "names": list(wide.get_feature_names_out()),
    "codes": colours.transform(["green", "red"]),
    "labels": list(colours.inverse_transform([1, 0])),
    "columns": LabelBinarizer().fit_transform(["a", "b", "c", "a"]),
    "sets": sets.fit_transform([{"x", "y"}, {"y"}]),
}
