from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import validation_curve

X, y = load_diabetes(return_X_y=True)
train, test = validation_curve(Ridge(), X, y, param_name="alpha", param_range=[0.01, 0.1, 1.0], cv=5)
result = {"train": train, "test": test}
