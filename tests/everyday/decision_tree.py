from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, export_text

iris = load_iris()
tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(iris.data[:, 2:], iris.target)
result = {
    "labels": tree.predict(iris.data[:, 2:]),
    "shares": tree.predict_proba(iris.data[:, 2:]),
    "depth": tree.get_depth(),
    "leaves": tree.get_n_leaves(),
    "nodes": tree.tree_.node_count,
    "left": tree.tree_.children_left,
    "lines": len(export_text(tree, feature_names=iris.feature_names[2:]).splitlines()),
}
