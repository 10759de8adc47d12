from sklearn.datasets import load_diabetes
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.pipeline import make_pipeline

X, y = load_diabetes(return_X_y=True)
pipe = make_pipeline(SelectFromModel(Lasso(alpha=0.5, tol=1e-8)), LinearRegression()).fit(X, y)
result = {"kept": pipe[0].get_support(), "guess": pipe.predict(X)}
