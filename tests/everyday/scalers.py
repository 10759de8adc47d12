import pandas as pd
from sklearn.preprocessing import Binarizer, MaxAbsScaler, MinMaxScaler, Normalizer

frame = pd.DataFrame({"a": [0.0, 1, 2, 3, None, 5, 6], "b": [1.0, 0, -2, 1, 3, 5, 2]})
scaler = MinMaxScaler(feature_range=(-1, 1)).set_output(transform="pandas")
scaled = scaler.fit_transform(frame)
filled = frame.fillna(0.0)
result = {
    "scaled": scaled,
    "names": list(scaled.columns),
    "back": scaler.inverse_transform(scaled),
    "parts": MinMaxScaler().partial_fit(frame[:3]).partial_fit(frame[3:]).data_max_,
    "largest": MaxAbsScaler().fit(frame).max_abs_,
    "rows": Normalizer("l1").transform(filled.to_numpy()),
    "above": Binarizer(threshold=1.5).fit_transform(filled),
}
