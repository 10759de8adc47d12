import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

frame = pd.DataFrame({"a": [0.0, 1, 2, 3, 4, 5, 6], "b": [1.0, 0, 2, 1, 3, 5, 2]})
y = frame["a"] ** 2 - frame["a"] * frame["b"] + 1
pipe = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression()).fit(frame, y)
result = {"names": list(pipe[:-1].get_feature_names_out()), "coef": pipe[-1].coef_, "guess": pipe.predict(frame)}
atol = 1e-9
