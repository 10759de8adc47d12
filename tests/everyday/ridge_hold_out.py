from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score
from sklearn.model_selection import train_test_split

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
model = Ridge(alpha=0.5).fit(X_train, y_train)
guess = model.predict(X_test)
result = {
    "coef": model.coef_,
    "intercept": model.intercept_,
    "r2": r2_score(y_test, guess),
    "mse": mean_squared_error(y_test, guess),
    "mae": mean_absolute_error(y_test, guess),
    "score": model.score(X_test, y_test),
}
