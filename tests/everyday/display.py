import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
pipe = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-8)).fit(X, y)
curve = RocCurveDisplay.from_estimator(pipe, X, y)
matrix = ConfusionMatrixDisplay.from_estimator(pipe, X, y)
plt.close("all")
result = {"auc": curve.roc_auc, "matrix": matrix.confusion_matrix}
rtol = 1e-4
