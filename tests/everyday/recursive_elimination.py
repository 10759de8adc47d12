from sklearn.datasets import load_diabetes
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression

X, y = load_diabetes(return_X_y=True)
left = RFE(LinearRegression(), n_features_to_select=4).fit(X, y)
result = {"ranking": left.ranking_, "coef": left.estimator_.coef_}
