"""Any function of the rows as a transformer."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array, Block, as_floats
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts


@estimator
class FunctionTransformer(Transformer, OnePass):
    """FunctionTransformer: any function of the rows as a transformer.

    Model       z = f(x), row by row; without a function the rows as they are
    Objective   none: nothing is learned but the number of columns
    Algorithm   the function is called on what is given (a frame, a list, a sparse matrix) as it is, in a pipeline too;
                with validate=True, and on rows of a file, on blocks of numbers: what it makes of a row must not
                depend on others
    Cost        that of the function; with validate=True one pass over X when fitted, to check it
    Fails when  with validate=True: the function raises, returns another number of rows, text, or values that are not
                finite (refused, with the row); a pipeline over files needs it; a function cannot be saved, only the
                unchanged rows can
    Reference   Box & Cox 1964, on transformations before least squares

    Example
    -------
    >>> import numpy as np, tenfold
    >>> logs = tenfold.FunctionTransformer(np.log1p, np.expm1)
    >>> rows = logs.fit_transform([[0.0], [np.e - 1]])
    >>> rows.tolist(), logs.inverse_transform(rows).round(6).tolist()
    ([[0.0], [1.0]], [[0.0], [1.718282]])
    """

    n_output_features_: int = learned("int:m", "number of new columns, where it is known", optional=True)
    stats_: Any = learned("Counts(2)", "weight of the rows", optional=True)

    stateless: ClassVar[bool] = True
    invertible: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {"refuses_categories": "a frame is handed on as it is"}

    func: object = param(default=None, doc="f(X): as many rows as X; None leaves the rows as they are")
    inverse_func: object = param(default=None, doc="the inverse of func, for inverse_transform")
    _: KW_ONLY
    validate: bool = param(default=False, doc="check the rows before and after; False hands X to the function as it is")
    accept_sparse: bool = param(default=False, doc="give sparse rows to the function as they are")
    check_inverse: bool = param(default=True, doc="warn in fit where inverse_func does not bring rows back")
    feature_names_out: object = param(
        default=None, doc="'one-to-one', or a function of self and the old names; None: names if the width stays"
    )
    kw_args: dict[Any, Any] | None = param(default=None, doc="more arguments of func, by name")
    inv_kw_args: dict[Any, Any] | None = param(default=None, doc="more arguments of inverse_func, by name")

    @property
    def accepts(self) -> str:
        """What is not to be checked goes to the function as it is, in a pipeline too."""
        return "rows" if self.func is None or self.validate else "anything"

    @property
    def sparse(self) -> bool:
        """Whether the function takes them is for the user to decide."""
        return bool(self.accept_sparse) or self.func is None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Look at the columns; with validate=True, at the values too."""
        check.check_params(self)
        self._check_functions()
        if self._by_blocks(X):
            if self.validate:
                super().fit(X, y, sample_weight)
            else:
                self._publish(fresh(self).set_params(validate=True, check_inverse=False).fit(X, y, sample_weight))
        else:
            self._forget_fit()
            shape, names = getattr(X, "shape", None) or _shape(X), check.frame_names(X)
            facts = dict(n_features_in_=int(shape[1]) if len(shape) == 2 else 1, feature_names_in_=names)
            vars(self).update({key: fact for key, fact in facts.items() if fact is not None})
            width = self._width(X)
            vars(self).update({} if width is None else {"n_output_features_": width})
        if self.check_inverse and self.func is not None and self.inverse_func is not None and not check.elsewhere(X):
            self._check_inverse(X)
        return self

    def _by_blocks(self, X: Any) -> bool:
        """Whether X is checked and handed on in blocks of numbers: as is asked for, as it is not in memory, or as nothing is done to it."""
        numbers = type(X) is np.ndarray and X.dtype.kind in "fiub"
        return bool(self.validate) or check.elsewhere(X) or (self.func is None and (numbers or ops.is_sparse(X)))

    def _width(self, X: Any) -> int | None:
        """The number of new columns, by the first row; None where it is not needed, or the function makes no table of one row."""
        if self.func is None:
            return int(self.n_features_in_)
        if self.feature_names_out is not None or isinstance(X, (list, tuple)):
            return None
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = np.shape(self._called(X[:1], self.func, self.kw_args))
        except Exception:
            return None  # of all rows, transform will tell
        return int(made[1]) if len(made) == 2 else None

    def _check_inverse(self, X: Any) -> None:
        """Warn where inverse_func is not the inverse of func, by some hundred rows."""
        X = np.asarray(X) if isinstance(X, (list, tuple)) else X
        kinds = [X.dtype] if hasattr(X, "dtype") else getattr(X, "dtypes", [None])
        if not all((isinstance(kind, np.dtype) and np.issubdtype(kind, np.number)) or _is_number(kind) for kind in kinds):
            raise BadInput(
                "'check_inverse' is only supported when all the elements in `X` is numerical. Set check_inverse=False for others"
            )
        some = X[:: max(1, X.shape[0] // 100)]
        with np.errstate(all="ignore"):
            back = self._called(self._called(some, self.func, self.kw_args), self.inverse_func, self.inv_kw_args)
        before, after = (np.asarray(ops.dense(one), dtype=np.float64) for one in (some, back))
        if not np.allclose(before, after, rtol=1e-7, atol=1e-9, equal_nan=True):
            warn(
                "The provided functions are not strictly inverse of each other. If you are sure you want to proceed regardless, set "
                "'check_inverse=False'.",
                DataWarning,
                stacklevel=3,
            )

    def _called(self, X: Any, function: Any, more: dict[str, Any] | None) -> Any:
        return X if function is None else function(X, **(more or {}))

    def transform(self, X: Any) -> Any:
        """What the function makes of X; `set_output` chooses the container."""
        unfitted = "n_features_in_" not in vars(self) and not self.validate  # nothing is asked of a fit then
        if self._by_blocks(X) and not (unfitted and self.func is None):
            if self.accepts == "rows":
                return super().transform(X)
            return self._fitted_copy(self._fitted_state(), validate=True).transform(X)
        self._check_functions()
        return self._framed(self._called(X, self.func, self.kw_args), X)

    def _framed(self, rows: Any, X: Any) -> Any:
        """What the function made of X in the container that was asked for, its columns with the names that were asked for."""
        if check.is_frame(rows) and self.feature_names_out is not None:
            wanted, found = [str(one) for one in self.get_feature_names_out()], list(rows.columns)
            kept = check.is_frame(X) and list(X.columns) == found
            if found != wanted and not (kept or not all(isinstance(one, str) for one in found) or self._container() != "default"):
                raise BadInput(
                    "The output generated by `func` have different column names than the ones provided by `get_feature_names_out`: "
                    f"{check.short(found)} instead of {check.short(wanted)}. Set the output with set_output to override them"
                )
            if found != wanted:
                rows = rows.set_axis(wanted, axis=1) if hasattr(rows, "set_axis") else rows.rename(dict(zip(found, wanted, strict=True)))
        container = self._container()
        if container == "default" or type(rows).__module__.partition(".")[0] == container:
            return rows
        if self.feature_names_out is None and self.func is not None:
            warn(
                f"When `set_output` is configured to be '{container}', `func` should return a {container} DataFrame to follow the "
                "`set_output` API or `feature_names_out` should be defined.",
                DataWarning,
                stacklevel=3,
            )
        vars(self).setdefault("n_output_features_", int(np.shape(rows)[1]))
        return self._dressed(rows if not check.is_frame(rows) else np.asarray(rows), X)

    def _check_functions(self) -> None:
        for name in ("func", "inverse_func"):
            if not (getattr(self, name) is None or callable(getattr(self, name))):
                raise BadParameter(
                    f"FunctionTransformer({name}={check.short(getattr(self, name))}): must be a function or None"
                )
        names = self.feature_names_out
        if not (names is None or callable(names) or (isinstance(names, str) and names == "one-to-one")):
            raise BadParameter(
                f"FunctionTransformer(feature_names_out={check.short(names)}): must be 'one-to-one', a function or None"
            )

    def _summarize(self, block: Block) -> Counts:
        width = self._applied(block.X, self.func, self.kw_args, "func").shape[1]
        return Counts(np.array([block.w.sum(), block.w.sum() * width]))

    def _solve(self, stats: Counts) -> dict[str, Any]:
        self._check_functions()
        return dict(n_output_features_=round(stats.weight[1] / stats.weight[0]))

    def _transform(self, X: Any) -> Any:
        return self._applied(X, self.func, self.kw_args, "func")

    def inverse_transform(self, X: Any) -> Any:
        """Rows back as they were, by inverse_func."""
        if not self.validate:
            return self._called(X, self.inverse_func, self.inv_kw_args)
        check.check_fitted(self)
        Z, _ = check.as_table(self, X)
        return map_rows(self._inverse, as_floats(Z))

    def _inverse(self, Z: Any) -> Any:
        return self._applied(Z, self.inverse_func, self.inv_kw_args, "inverse_func")

    def _applied(self, X: Any, function: Any, more: dict[str, Any] | None, name: str) -> Any:
        """function(X), checked: a table of finite numbers with the rows of X."""
        if function is None or not callable(function):
            return X  # what cannot be called is refused by `_solve`
        if not ops.is_sparse(X):
            X = X.view()
            X.flags.writeable = False  # a function that changes its argument would change the user's table
        try:
            with np.errstate(all="ignore"):
                out = function(X, **(more or {}))
        except Exception as wrong:
            raise BadInput(f"{name} raised {type(wrong).__name__}: {check.short(str(wrong))}") from wrong
        if not ops.is_sparse(out):
            out = np.asarray(out)
        if out.ndim != 2 or out.shape[0] != X.shape[0] or out.shape[1] == 0:
            raise BadInput(f"{name} gave shape {out.shape} for rows of shape {X.shape}: it must give as many rows")
        if out.dtype.kind not in "fiub":
            raise BadInput(f"{name} gave {out.dtype} and not numbers: code them as numbers")
        if out.dtype not in (np.float32, np.float64):
            out = out.astype(X.dtype)
        values = out.data if ops.is_sparse(out) else out
        if not np.isfinite(values).all():
            row = "" if ops.is_sparse(out) else f" for row {int(np.argwhere(~np.isfinite(out))[0][0])}"
            raise BadInput(f"{name} gave values that are not finite{row}: drop such rows, or change it")
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation, tags.requires_fit = not self.validate, False
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        old = super().get_feature_names_out(input_features)
        if callable(self.feature_names_out):
            return np.asarray(self.feature_names_out(self, old), dtype=object)
        m = vars(self).get("n_output_features_", len(old) if self.feature_names_out is not None else None)
        if m is None:
            raise AttributeError(
                "This 'FunctionTransformer' has no attribute 'get_feature_names_out': set feature_names_out, as it is not known how many "
                "columns the function makes"
            )
        return old if m == len(old) else np.array([f"function{k}" for k in range(m)], dtype=object)


def _is_number(kind: Any) -> bool:
    """Whether the type of a column, of any kind of frame, is one of numbers."""
    return bool(getattr(kind, "is_numeric", lambda: False)())


def _shape(X: Any) -> tuple[int, ...]:
    """Of lists, which may be ragged: those have rows alone."""
    try:
        return np.asarray(X).shape
    except ValueError:
        return (len(X),)
