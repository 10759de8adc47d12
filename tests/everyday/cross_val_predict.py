from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import cross_val_predict

X, y = load_wine(return_X_y=True)
guess = cross_val_predict(LinearDiscriminantAnalysis(), X, y, cv=10)
shares = cross_val_predict(LinearDiscriminantAnalysis(), X, y, cv=10, method="predict_proba")
result = {"guess": guess, "matrix": confusion_matrix(y, guess), "accuracy": accuracy_score(y, guess), "shares": shares}
rtol, atol = 1e-5, 1e-8
