"""Makes the golden files: `python tests/golden/make.py`, run once for each format version, never again.

Files of every released version stay here for ever, and tests/test_files.py loads them all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.saved.files import VERSION


def table() -> tuple[Any, Any, Any]:
    """Rows, numbers and labels that need no generator, so that they are the same for ever."""
    i = np.arange(48.0)
    X = np.column_stack([np.sin(i), np.cos(1.7 * i), i % 5 - 2.0])
    y = X @ [1.0, -2.0, 0.5] + 0.25
    return X, y, np.where(y > 0.5, "high", np.where(y < -0.5, "low", "middle")).astype(object)


def models() -> dict[str, Any]:
    X, y, label = table()
    scaled = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression(C=2.0))
    return {
        "linear": tenfold.LinearRegression().fit(X, y),
        "ridge": tenfold.Ridge(alpha=0.5).fit(X, y),
        "ridge2": tenfold.Ridge().fit(X, np.column_stack([y, -y])),
        "logistic": scaled.fit(X, label),
        "bayes": tenfold.GaussianNB().fit(X, label),
        "lda": tenfold.LinearDiscriminantAnalysis().fit(X, label),
        "qda": tenfold.QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, label),
        "centroid": tenfold.NearestCentroid().fit(X, label),
        "pca": tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.PCA(2), tenfold.Ridge()).fit(X, y),
        "kmeans": tenfold.KMeans(3, random_state=0).fit(X),
    }


def main() -> None:
    """Write one file for each model, and what each predicts."""
    here, X = Path(__file__).parent, table()[0]
    answers = {}
    for name, model in models().items():
        path = here / f"v{VERSION}-{name}.tenfold"
        tenfold.save(model, path, resumable=name in ("ridge", "qda"))
        answers[path.name] = model.predict(X).tolist()
    (here / f"v{VERSION}.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
