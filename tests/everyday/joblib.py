import io

import joblib
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

X, y = load_diabetes(return_X_y=True)
model = HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y)
file = io.BytesIO()
joblib.dump(model, file)
file.seek(0)
again = joblib.load(file)
assert (again.predict(X) == model.predict(X)).all()
result = {"score": again.score(X, y), "n_iter": again.n_iter_}
atol = 0.03
