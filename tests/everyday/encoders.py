import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

frame = pd.DataFrame({"size": ["s", "l", "m", "s"], "n": [3, 1, 2, 3]})
one = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False).fit(frame)
order = OrdinalEncoder(categories=[["s", "m", "l"]], handle_unknown="use_encoded_value", unknown_value=-1).fit(frame[["size"]])
mixed = OneHotEncoder().fit([["Male", 1], ["Female", 3], ["Female", 2]])
result = {
    "hot": one.transform(frame),
    "names": list(one.get_feature_names_out()),
    "back": one.inverse_transform(one.transform(frame))[:, 0].tolist(),
    "order": order.transform(pd.DataFrame({"size": ["m", "xxl", "s"]})),
    "mixed": [repr(value) for column in mixed.categories_ for value in column.tolist()],
    "row": mixed.transform([["Female", 1]]).toarray(),
    "few": np.asarray(OneHotEncoder(min_frequency=2, sparse_output=False).fit_transform(frame[["size"]])),
}
