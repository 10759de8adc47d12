from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import learning_curve

X, y = load_diabetes(return_X_y=True)
sizes, train, test = learning_curve(Ridge(), X, y, cv=5, train_sizes=[0.2, 0.5, 1.0])
result = {"sizes": sizes, "train": train, "test": test}
