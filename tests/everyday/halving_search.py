from sklearn.datasets import load_breast_cancer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import HalvingGridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
pipe = make_pipeline(StandardScaler(), LogisticRegression())
search = HalvingGridSearchCV(pipe, {"logisticregression__C": [0.001, 0.1, 1.0, 1000.0]}, cv=3, random_state=0)
search.fit(X, y)
result = {"n_iterations": search.n_iterations_, "candidates": search.n_candidates_, "score": search.score(X, y)}
atol = 0.03
