"""The one gate. Parameters, containers, types, labels and weights are checked here and nowhere else.

`check_fit` turns whatever the user gave into a `Source` of clean blocks; `check_predict` into an array of the
right width.
What the gate found out (`n_features_in_`, `feature_names_in_`, `classes_`) travels as `source.facts`.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tenfold.core import ops
from tenfold.core.data import (
    Array,
    Arrays,
    Source,
    Target,
    as_floats,
    check_finite,
    column_name,
    objection,
    row_number,
)
from tenfold.core.errors import (
    BadInput,
    BadParameter,
    BadType,
    DataWarning,
    column_vector_warning,
    not_fitted,
)
from tenfold.core.params import domains

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-100, 1e100  # so that weighted sums neither overflow nor vanish
ALL = slice(0, None)  # the rows of a block are those of the table: what messages count from


def check_params(learner: Any) -> None:
    """Every parameter against its declared domain."""
    for name, domain in domains(learner).items():
        value = getattr(learner, name)
        if value is domain.default:
            continue
        objection = domain.objection(value)
        if objection:
            raise BadParameter(f"{type(learner).__name__}({name}={_short(value)}): {objection}")


def check_fit(learner: Any, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None) -> Source:
    """Everything a learner needs to fit, as a source of clean blocks."""
    check_params(learner)
    if type(X) is not np.ndarray:
        from tenfold.sources import stream, tables

        if tables.is_path(X):
            return tables.open_files(learner, X, y, sample_weight, classes)
        if stream.is_dask(X):
            from tenfold.sources.collection import open_collection

            return open_collection(learner, X, y, sample_weight, classes)
        if stream.is_stream(X):
            return stream.open_stream(learner, X, y, sample_weight, classes)
    return in_memory(learner, X, y, sample_weight, classes)


def in_memory(learner: Any, X: Any, y: Any = None, sample_weight: Any = None, classes: Any = None) -> Arrays:
    """The gate for a table in memory."""
    if isinstance(y, str):
        X, y = split_target(X, y)
    X, names = as_table(learner, X)
    target, codes = as_target(learner, y, X.shape[0], classes)
    w = as_weights(sample_weight, X.shape[0])
    rows = None
    if w is not None and not w.all():
        rows = np.flatnonzero(w)
        codes, target = _drop_unseen_classes(codes, target, rows, classes)
        check_classes(learner, target)
    n = X.shape[0] if rows is None else len(rows)
    if n < learner.least_rows:
        raise BadInput(
            f"Found array with {n} sample(s) (shape={X.shape}) while a minimum of {learner.least_rows} "
            f"is required by {type(learner).__name__}" + (": 1 sample is not enough" if n == 1 else "")
        )
    return Arrays(
        X, codes, w, target, facts_of(X.shape[1], names, target), rows=rows, missing=learner.missing
    )


def facts_of(width: int, names: Array | None, target: Target) -> dict[str, Any]:
    """The fitted attributes that the gate knows."""
    facts: dict[str, Any] = {"n_features_in_": width}
    if names is not None:
        facts["feature_names_in_"] = names
    if target.classes is not None:
        facts["classes_"] = target.classes
    if target.kind == "real":
        facts["_flat"] = target.flat
    return facts


# --- predict ------------------------------------------------------------------------------------------------


def check_fitted(learner: Any) -> None:
    if "n_features_in_" not in vars(learner):
        raise not_fitted(type(learner).__name__)


def check_predict(learner: Any, X: Any, *, width: int | None = None) -> Any:
    """X as the learner was fitted on it: names, width, type, finite. Paths and streams become a Source."""
    check_fitted(learner)
    width = learner.n_features_in_ if width is None else width
    if type(X) is not np.ndarray:
        from tenfold.sources import stream, tables

        if tables.is_path(X):
            return tables.open_files(learner, X, None, None, None, plain=True)
        if stream.is_dask(X):
            from tenfold.sources.collection import open_collection

            return open_collection(learner, X, None, None, None, plain=True)
        if stream.is_stream(X):
            return stream.open_stream(learner, X, None, None, None, plain=True)
    X, names = as_table(learner, X)
    check_names(learner, names)
    check_width(learner, X.shape[1], width)
    if X.dtype == np.float64 or X.dtype == np.float32:
        if not ops.is_sparse(X):
            X = np.ascontiguousarray(X)
            X = X if X.flags.aligned else X.copy()
    else:
        X = as_floats(X)
    if not ops.all_usable(X):
        check_finite(X, slice(0, None), getattr(learner, "feature_names_in_", None), learner.missing)
    return X


def check_width(learner: Any, width: int, expected: int) -> None:
    if width != expected:
        raise BadInput(
            f"X has {width} features, but {type(learner).__name__} is expecting {expected} features as input"
        )


def check_names(learner: Any, names: Array | None) -> None:
    """Column names as in fit, in the same order; scikit-learn's words, as users look for them."""
    fitted, name = vars(learner).get("feature_names_in_"), type(learner).__name__
    if fitted is None and names is None:
        return
    if fitted is None:
        return warnings.warn(
            f"X has feature names, but {name} was fitted without feature names", DataWarning, stacklevel=4
        )
    if names is None:
        return warnings.warn(
            f"X does not have valid feature names, but {name} was fitted with feature names",
            DataWarning,
            stacklevel=4,
        )
    if len(names) == len(fitted) and (names == fitted).all():
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, gone = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if gone:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(gone)
    if not unseen and not gone:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise BadInput(message)


def _listed(names: list[str]) -> str:
    shown = [f"- {str(name)[:80]}\n" for name in names[:5]]
    return "".join(shown) + ("- ...\n" if len(names) > 5 else "")


# --- tables -------------------------------------------------------------------------------------------------


def as_table(learner: Any, X: Any) -> tuple[Any, Array | None]:
    """X as a 2-D array or CSR matrix of numbers, with its column names if it has any."""
    names = None
    if type(X) is not np.ndarray:
        X, names = _unpacked(learner, X)
    if X.dtype.kind not in "fiub" and not ops.is_sparse(X):
        X = _numbers(X)
    if X.ndim != 2:
        shape = "scalar" if X.ndim == 0 else f"{X.ndim}D"
        raise BadInput(
            f"Expected 2D array, got {shape} array instead (shape={X.shape}). Reshape your data: "
            "X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row"
        )
    n, p = X.shape
    if n < 1:
        raise BadInput(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
    if p < 1:
        raise BadInput(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8):
        X = X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64)
    if names is None and type(X) is np.ndarray and not X.flags.aligned:
        X = X.copy()
    return X, names


def _unpacked(learner: Any, X: Any) -> tuple[Any, Array | None]:
    """The array inside a sparse matrix, a frame, or a list of rows."""
    if ops.is_sparse(X):
        if not learner.sparse:
            raise BadType(
                f"Sparse data was passed, but {type(learner).__name__} takes dense data only: use X.toarray()"
            )
        if X.ndim != 2:
            raise BadInput(f"Expected 2D array, got {X.ndim}D sparse array instead. Reshape your data")
        if X.dtype.kind == "c":
            raise BadInput("Complex data not supported: give real numbers")
        return X.tocsr(), None
    if is_frame(X):
        return _from_frame(X)
    try:
        table = None if X is None or isinstance(X, (str, bytes, dict, set)) else np.asarray(X)
    except ValueError:
        raise BadInput(
            "X is not a table: its rows have different lengths, or hold things of different shapes"
        ) from None
    if table is None or (table.ndim == 0 and table.dtype.kind == "O"):
        raise BadType(
            f"X must be a table of numbers, not {type(X).__name__}: give an array, a data frame, "
            "a sparse matrix, a path to a CSV or Parquet file, or blocks of rows"
        )
    return table, None


def is_frame(X: Any) -> bool:
    """pandas, polars, Arrow tables, and whatever narwhals knows."""
    module = type(X).__module__.partition(".")[0]
    if module in ("numpy", "builtins", "scipy"):
        return False
    if module in ("pandas", "polars", "pyarrow", "modin", "cudf"):
        return hasattr(X, "columns")
    return hasattr(X, "__narwhals_dataframe__")


def _from_frame(X: Any) -> tuple[Array, Array | None]:
    import narwhals as nw

    names = column_names(list(X.column_names if hasattr(X, "column_names") else X.columns))
    frame = nw.from_native(X, eager_only=True)
    arrays = [_numeric_column(column, column.name) for column in frame.iter_columns()]
    if not arrays:
        return np.empty((frame.shape[0], 0)), names
    kind = np.result_type(*arrays)
    table = np.empty(
        (len(arrays[0]), len(arrays)), dtype=kind if kind in (np.float32, np.float64) else np.float64
    )
    for j, values in enumerate(arrays):
        table[:, j] = values
    return table, names


def _numeric_column(column: Any, name: Any) -> Array:
    """One column of a frame as numbers; a blank is NaN."""
    if column.dtype.is_numeric():
        numbers: Array = column.to_numpy()
        return numbers if numbers.dtype.kind in "fiu" else numbers.astype(np.float64)
    import narwhals as nw

    values = column.to_list() if column.dtype in (nw.Boolean, nw.Object, nw.Unknown) else None
    if values is None:
        first = next((i for i, v in enumerate(column.to_list()) if v is not None), 0)
        raise BadInput(
            f"could not convert string to float: column {str(name)[:80]!r} holds {column.dtype} "
            f"(row {first}: {_short(column[first])}): code it as numbers first"
        )
    return _to_floats(values, f"column {str(name)[:80]!r}")


def _to_floats(values: Any, where: str) -> Array:
    out = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            out[i] = np.nan if value is None else float(value)
        except (TypeError, ValueError, OverflowError) as reason:
            kind = BadType if isinstance(reason, TypeError) else BadInput
            raise kind(f"{reason} ({where}, row {i}): code it as a number first") from None
    return out


def _numbers(X: Array) -> Array:
    """An array of another type (objects, text) as numbers."""
    if X.dtype.kind == "c":
        raise BadInput("Complex data not supported: give real numbers")
    if X.dtype.kind in "mM":
        raise BadType(
            f"X holds dates ({X.dtype}): turn them into numbers first, days since a day for example"
        )
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        if X.ndim != 2:
            raise BadInput(
                "X is not a table of numbers: its rows have different lengths or hold text"
            ) from None
    columns = [_to_floats(X[:, j], column_name(None, j)) for j in range(X.shape[1])]
    return np.column_stack(columns)


def column_names(columns: Any) -> Array | None:
    """Names as an array of str; None where they are not text."""
    if len(set(columns)) < len(columns):
        twice = next(name for name in columns if list(columns).count(name) > 1)
        raise BadInput(
            f"the column name {str(twice)[:80]!r} occurs more than once: rename one of the columns"
        )
    text = [isinstance(name, str) for name in columns]
    if any(text) and not all(text):
        raise BadType(
            "Feature names are only supported if all input features have string names, but your input has "
            "mixed types of names: convert them with X.columns = X.columns.astype(str)"
        )
    return np.array(columns, dtype=object) if all(text) and text else None


def split_target(X: Any, name: str) -> tuple[Any, Any]:
    """A frame without the named column, and that column."""
    if not is_frame(X):
        raise BadType(
            f"y={name!r} names a column, but X is {type(X).__name__} and has no names: give y as an array"
        )
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    if name not in frame.columns:
        raise BadInput(
            f"there is no column {name!r} to be the target: the columns are {_names(frame.columns)}"
        )
    return frame.drop(name).to_native(), frame[name].to_numpy()


def _names(columns: Any) -> str:
    shown = ", ".join(str(name)[:40] for name in columns[:8])
    return shown + (f" and {len(columns) - 8} more" if len(columns) > 8 else "")


# --- targets and weights ------------------------------------------------------------------------------------


def as_target(
    learner: Any, y: Any, n: int, classes: Any = None, index: Any = ALL
) -> tuple[Target, Array | None]:
    """y as the learner wants it: float64 (n, q) for "real", codes (n,) for "label", nothing for "none"."""
    kind = learner.target
    if kind == "none":
        return Target("none"), None
    if y is None:
        raise BadInput(f"{type(learner).__name__} requires y to be passed, but the target y is None")
    y = _as_column(y)
    if kind == "label":
        values, codes = encode(flat_labels(y, n, index), classes, index)
        target = Target("label", values)
        check_classes(learner, target)
        return target, codes
    flat = y.ndim == 1
    values = real_target(y, n, index)
    if not flat and values.shape[1] == 1 and not learner.multi_output:
        warn_column_vector()
    if values.shape[1] > 1 and not learner.multi_output:
        raise BadInput(
            f"y should be a 1d array, got an array of shape {y.shape} instead: "
            f"{type(learner).__name__} predicts one column"
        )
    return Target("real", flat=flat or not learner.multi_output, width=values.shape[1]), values


def check_classes(learner: Any, target: Target) -> None:
    if target.classes is not None and len(target.classes) < learner.least_classes:
        raise BadInput(
            f"{type(learner).__name__} needs samples of at least 2 classes in y, but there is only one "
            f"class: {target.classes[0]!r}"
        )


def _as_column(y: Any) -> Array:
    if ops.is_sparse(y):
        raise BadType("y is sparse, but a dense target is required: use y.toarray()")
    if hasattr(y, "__array__") or isinstance(y, (list, tuple)):
        return np.asarray(y)
    if np.ndim(y) == 0:
        raise BadInput(f"y should be a 1d array, got {_short(y)} instead")
    return np.asarray(y)


def check_length(what: str, length: int, n: int) -> None:
    if length != n:
        raise BadInput(
            f"Found input variables with inconsistent numbers of samples: X has {n} rows, "
            f"but {what} has {length}"
        )


def real_target(y: Array, n: int, index: Any = ALL) -> Array:
    """Numbers, finite, as a (n, q) array."""
    if y.ndim not in (1, 2) or (y.ndim == 2 and y.shape[1] == 0):
        raise BadInput(
            f"y should be a 1d array, or 2d for several targets, got an array of shape {y.shape} instead"
        )
    check_length("y", y.shape[0], n)
    if y.dtype.kind == "c":
        raise BadInput("Complex data not supported: y must hold real numbers")
    if y.dtype.kind not in "fiub":
        y = (
            _to_floats(y, "target y")
            if y.ndim == 1
            else np.column_stack([_to_floats(c, "target y") for c in y.T])
        )
    values = np.ascontiguousarray(y.reshape(n, -1), dtype=np.float64)
    if not ops.all_usable(values):
        row, column = (int(i) for i in np.argwhere(~(np.abs(values) <= ops.LARGEST[values.dtype]))[0])
        where = f"in row {row_number(index, row)}"
        raise BadInput(f"Input y contains {objection(values[row, column], where, 'targets')}")
    return values


def flat_labels(y: Array, n: int, index: Any = ALL) -> Array:
    """Labels as a 1-D array."""
    if y.ndim == 2 and y.shape[1] == 1:
        warn_column_vector()
        y = y[:, 0]
    if y.ndim != 1:
        raise BadInput(f"y should be a 1d array, got an array of shape {y.shape} instead")
    check_length("y", y.shape[0], n)
    if y.dtype.kind == "c":
        raise BadInput("Complex data not supported: y must hold labels")
    if y.dtype.kind == "f":
        if not ops.all_finite(np.ascontiguousarray(y)):
            row = int(np.flatnonzero(~np.isfinite(y))[0])
            where = f"in row {row_number(index, row)}"
            raise BadInput(f"Input y contains {objection(y[row], where, 'labels')}")
        if (y != np.trunc(y)).any():
            row = int(np.flatnonzero(y != np.trunc(y))[0])
            raise BadInput(
                f"Unknown label type: continuous. Row {row_number(index, row)} of y is {y[row]:g}: "
                "a classifier needs classes; use a regressor, or bin the target first"
            )
    return y


def encode(y: Array, classes: Any = None, index: Any = ALL) -> tuple[Array, Array]:
    """Sorted classes, and each label as its number among them."""
    if classes is None:
        return _distinct(y)
    values = np.unique(np.asarray(classes))
    try:
        place = np.searchsorted(values, y)
        known = values[np.minimum(place, len(values) - 1)] == y
    except TypeError:
        raise BadInput(
            f"the labels ({y.dtype}) are not of the same type as the classes ({values.dtype})"
        ) from None
    if not np.all(known):
        row = int(np.flatnonzero(~known)[0])
        raise BadInput(
            f"y has the label {y[row]!r} in row {row_number(index, row)}, which is not among the classes "
            f"{_names(values)}: give all of them in classes="
        )
    return values, place.astype(np.int64)


def _distinct(y: Array) -> tuple[Array, Array]:
    if y.dtype.kind in "iub" and y.size and y.dtype != np.uint64:
        low, high = int(y.min()), int(y.max())
        if high - low < 1024:  # few whole numbers: counting beats sorting
            present = np.bincount(y.astype(np.int64) - low, minlength=high - low + 1) > 0
            values = np.flatnonzero(present) + low
            codes = (np.cumsum(present) - 1)[y.astype(np.int64) - low]
            return values.astype(y.dtype), codes
    try:
        values, codes = np.unique(y, return_inverse=True)
    except TypeError:
        kinds = {type(v).__name__: i for i, v in reversed(list(enumerate(y)))}
        told = " and ".join(
            f"{kind} (row {row})" for kind, row in sorted(kinds.items(), key=lambda item: item[1])[:2]
        )
        raise BadInput(f"y holds labels of mixed type, {told}: make them all text or all numbers") from None
    if y.dtype.kind == "O" and any(v is None or v != v for v in values):
        row = next(i for i, v in enumerate(y) if v is None or v != v)
        raise BadInput(f"Input y contains NaN in row {row}: drop the rows without a label first")
    return values, codes.reshape(-1).astype(np.int64)


def _drop_unseen_classes(
    codes: Array | None, target: Target, rows: Array, classes: Any
) -> tuple[Array | None, Target]:
    """A class all of whose rows have weight zero is absent, unless the user listed the classes."""
    if target.classes is None or codes is None or classes is not None:
        return codes, target
    present = np.unique(codes[rows])
    if len(present) == len(target.classes):
        return codes, target
    place = np.zeros(len(target.classes), dtype=np.int64)
    place[present] = np.arange(len(present))
    return place[codes], Target("label", target.classes[present])


def as_weights(weights: Any, n: int, index: Any = ALL) -> Array | None:
    """float64 (n,), none below zero, not all zero; None where every row counts the same."""
    if weights is None:
        return None
    w = np.asarray(weights)
    if w.ndim == 0 and w.dtype.kind in "fiub":
        w = np.full(n, float(w))
    if w.ndim != 1 or w.dtype.kind not in "fiub":
        raise BadInput(f"sample_weight must be a 1D array of numbers, got shape {w.shape} of {w.dtype}")
    check_length("sample_weight", len(w), n)
    w = np.ascontiguousarray(w, dtype=np.float64)
    if not w.min() >= SMALLEST_WEIGHT or not w.max() <= LARGEST_WEIGHT:  # written so that NaN is caught
        bad = ~((w == 0) | (w >= SMALLEST_WEIGHT) & (w <= LARGEST_WEIGHT))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise BadInput(
                f"sample_weight is {w[row]:g} in row {row_number(index, row)}: weights must be zero or from "
                f"{SMALLEST_WEIGHT:g} to {LARGEST_WEIGHT:g}, not negative and not missing"
            )
        if index is ALL and not w.any():
            raise BadInput("sample_weight is zero in every row: at least one weight must be above zero")
    return w


def warn_column_vector() -> None:
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected: use y.ravel()",
        column_vector_warning(),
        stacklevel=5,
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
