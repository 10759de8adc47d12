from sklearn.datasets import load_diabetes
from sklearn.inspection import partial_dependence
from sklearn.linear_model import LinearRegression

X, y = load_diabetes(return_X_y=True)
model = LinearRegression().fit(X, y)
found = partial_dependence(model, X, features=[2], kind="average", grid_resolution=10)
result = {"average": found["average"], "grid": found["grid_values"][0]}
