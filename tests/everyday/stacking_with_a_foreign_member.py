from sklearn.datasets import load_diabetes
from sklearn.ensemble import StackingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

X, y = load_diabetes(return_X_y=True)
stack = StackingRegressor([("ridge", Ridge(0.1)), ("near", KNeighborsRegressor(20))], final_estimator=LinearRegression(), cv=5)
stack.fit(X[:300], y[:300])
result = {"guess": stack.predict(X[300:]), "coef": stack.final_estimator_.coef_, "names": list(stack.named_estimators_)}
