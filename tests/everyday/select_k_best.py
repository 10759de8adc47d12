from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline

X, y = load_wine(return_X_y=True)
pipe = Pipeline([("best", SelectKBest(f_classif, k=5)), ("lda", LinearDiscriminantAnalysis())])
result = {"scores": cross_val_score(pipe, X, y, cv=5), "kept": pipe.fit(X, y)["best"].get_support()}
