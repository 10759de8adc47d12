import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_wine(return_X_y=True)
grid = {"kneighborsclassifier__n_neighbors": range(1, 31), "kneighborsclassifier__weights": ["uniform", "distance"]}
search = GridSearchCV(make_pipeline(StandardScaler(), KNeighborsClassifier()), grid, cv=5).fit(X, y)
model = KNeighborsRegressor(n_neighbors=3, weights="distance").fit(X[:, 1:], X[:, 0])
near = NearestNeighbors(n_neighbors=2).fit(X)
distances, rows = near.kneighbors()
result = {
    "best": np.array(list(search.best_params_.values())[:1]),
    "score": search.best_score_,
    "proba": search.predict_proba(X[:5]),
    "numbers": model.predict(X[:5, 1:] + 0.1),
    "distances": distances,
    "graph": near.kneighbors_graph(X[:20], mode="distance").toarray(),
}
