from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
forest = RandomForestClassifier(n_estimators=100, oob_score=True, n_jobs=-1, random_state=0).fit(X_train, y_train)
extra = ExtraTreesClassifier(n_estimators=100, random_state=0).fit(X_train, y_train)
result = {
    "score": forest.score(X_test, y_test),
    "oob": forest.oob_score_,
    "extra": extra.score(X_test, y_test),
    "trees": len(forest.estimators_),
    "leaves": forest.apply(X_test).shape,
    "top": forest.feature_importances_.sum(),
}
atol = 0.03
