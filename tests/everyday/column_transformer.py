import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(0)
n = 300
frame = pd.DataFrame(
    {
        "age": rng.normal(40, 12, n),
        "income": rng.lognormal(10, 1, n),
        "city": rng.choice(["Ulm", "Bonn", "Kiel"], n),
        "kind": rng.choice(["a", "b"], n),
    }
)
frame.loc[rng.choice(n, 30, replace=False), "age"] = np.nan
y = (frame["income"] > 22000).astype(int).to_numpy() ^ (rng.random(n) < 0.1)
numbers = Pipeline([("impute", SimpleImputer(strategy="median")), ("scale", StandardScaler())])
prepare = ColumnTransformer(
    [("num", numbers, ["age", "income"]), ("cat", OneHotEncoder(handle_unknown="ignore"), ["city", "kind"])]
)
model = Pipeline([("prepare", prepare), ("clf", LogisticRegression(tol=1e-8))])
model.fit(frame[:200], y[:200])
result = {
    "score": model.score(frame[200:], y[200:]),
    "shares": model.predict_proba(frame[200:]),
    "names": list(model[:-1].get_feature_names_out()),
}
rtol = 1e-3
