from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
search = GridSearchCV(
    DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, scoring={"acc": "accuracy", "auc": "roc_auc"}, refit="auc",
    cv=StratifiedKFold(3),
).fit(X, y)
result = {"acc": search.cv_results_["mean_test_acc"], "auc": search.cv_results_["mean_test_auc"], "best": search.best_params_["max_depth"]}
atol = 0.01
