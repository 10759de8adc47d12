import pickle

from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_iris(return_X_y=True)
pipe = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8)).fit(X, y)
again = pickle.loads(pickle.dumps(pipe))
assert (again.predict_proba(X) == pipe.predict_proba(X)).all()
result = {"labels": again.predict(X)}
