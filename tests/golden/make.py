"""Makes the golden files that are not there yet: `python tests/golden/make.py`. Files that are there are never written again.

There is one small file for each kind of model, `v1-NAME.tenfold`, and what it must say of the first rows in `v1-kinds.json`; the files
with names in lower case, with their predictions in `v1.json`, are those of the first version. Files of every released version stay
here for ever, and tests/test_files.py loads them all.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.saved import kinds
from tenfold.saved.decoder import VERSION

HERE = Path(__file__).parent
ROWS = 8  # of the table, that the predictions are about
VERBS = ("predict", "predict_proba", "transform")
OF_TABLES = ("TableModel", "TableCoder", "TextScore", "Indicators", "BlendClassifier", "BlendRegressor")


def table() -> tuple[Any, Any, Any]:
    """Rows, numbers and labels that need no generator, so that they are the same for ever."""
    i = np.arange(48.0)
    X = np.column_stack([np.sin(i), np.cos(1.7 * i), i % 5 - 2.0])
    y = X @ [1.0, -2.0, 0.5] + 0.25
    return X, y, np.where(y > 0.5, "high", np.where(y < -0.5, "low", "middle")).astype(object)


def frame() -> Any:
    """The same rows as a frame, the last column as text."""
    import polars

    X = table()[0]
    return polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": [f"level {value:g}" for value in X[:, 2]]})


def texts() -> list[str]:
    """The same rows as texts."""
    signs = (("above" if a > 0 else "below", "niemals größer" if c > 0 else "ever") for a, _, c in table()[0])
    return [f"the sine {a:.1f} is {one} {b:.1f}, {other}" for (a, b, _), (one, other) in zip(table()[0], signs, strict=True)]


def rows_for(name: str) -> Any:
    """The rows that a golden model is asked about."""
    kind = getattr(tenfold, name)
    if kind.accepts == "documents":
        return texts()[:ROWS]
    if kind.nonnegative is True:
        return np.abs(table()[0][:ROWS])
    return frame()[:ROWS] if name in OF_TABLES else table()[0][:ROWS]


def of_table(name: str) -> Any:
    """A small fitted model of a kind that runs of `tenfold.select` are made of."""
    from tenfold.prepare.coder import TableCoder
    from tenfold.selection.model.blend import BlendClassifier, BlendRegressor, Indicators
    from tenfold.selection.model.table_model import TableModel
    from tenfold.selection.race.text_score import TextScore

    _, y, label = table()
    if name == "TextScore":
        numbers = [np.array(values) for values in ([1.5, 1.0, 2.0], [[0.5], [-1.0], [2.0]], [0.25], [-0.5])]
        return TextScore.of("c", np.array(["level", "(1-digit-number)", "level (1-digit-number)"], dtype=object), *numbers, ["c"])
    coder = TableCoder(least_rows=1).fit(frame())
    rows, few = coder.frame(frame()), dict(max_iter=2, max_leaf_nodes=4)
    columns = [Indicators(coder), tenfold.SimpleImputer()]
    if name == "Indicators":
        return columns[0].fit(rows)
    if name == "BlendRegressor":
        members = [tenfold.HistGradientBoostingRegressor(**few), tenfold.make_pipeline(*columns, tenfold.Ridge())]
        return BlendRegressor.of([one.fit(rows, y) for one in members], [0.25, 0.75])
    boosted = tenfold.HistGradientBoostingClassifier(**few).fit(rows, label)
    if name == "BlendClassifier":
        linear = tenfold.make_pipeline(*columns, tenfold.LogisticRegression()).fit(rows, label)
        return BlendClassifier.of([boosted, linear], [0.5, 0.5])
    return coder if name == "TableCoder" else TableModel.of(coder, boosted, "size")


def golden(name: str) -> Any:
    """A small fitted model of a kind."""
    X, y, label = table()
    if name in OF_TABLES:
        return of_table(name)
    if name == "Pipeline":
        steps = tenfold.SplineTransformer(n_knots=3), tenfold.StandardScaler(), tenfold.LogisticRegression()
        return tenfold.make_pipeline(*steps).fit(X, label)
    cls = getattr(tenfold, name)
    model = cls(**cls._small_example())
    if model.accepts == "documents":
        return model.fit(texts())
    X = np.abs(X) if model.nonnegative else X
    with warnings.catch_warnings(action="ignore"):
        amounts = np.abs(y) + 0.1 if model.target_range[0] >= 0 else y
        return model.fit(X, {"real": amounts, "label": label, "none": None}[model.target])


def answers(model: Any, rows: Any) -> dict[str, Any]:
    """What a model says of the rows."""
    found = {verb: getattr(model, verb)(rows) for verb in VERBS if hasattr(model, verb)}
    return {verb: (value.toarray() if hasattr(value, "toarray") else value).tolist() for verb, value in found.items()}


def main() -> None:
    """Write the files that are missing, and what each predicts."""
    place = HERE / f"v{VERSION}-kinds.json"
    known = json.loads(place.read_text()) if place.exists() else {}
    for name in kinds.LEARNERS.values():
        path = HERE / f"v{VERSION}-{name}.tenfold"
        if not path.exists():
            model = golden(name)
            tenfold.save(model, path, resumable="stats_" in vars(model))
            known[path.name] = answers(model, rows_for(name))
    lines = [f"{json.dumps(name)}: {json.dumps(said)}" for name, said in sorted(known.items())]
    place.write_text("{" + ",\n".join(lines) + "}\n")


if __name__ == "__main__":
    main()
