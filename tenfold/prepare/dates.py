"""Dates as numbers: their parts, and where in the year, the week and the day they lie."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, BadParameter, BadType
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts

DAY = 86400.0
LARGEST = 1e15  # seconds: numbers beyond are no dates
PARTS = ("year", "quarter", "month", "week", "day", "dayofyear", "dayofweek", "hour", "minute", "second", "weekend", "days")
PERIODS = {"month": 12.0, "dayofyear": 365.2425, "dayofweek": 7.0, "hour": 24.0, "minute": 60.0, "quarter": 4.0, "day": 31.0}


@estimator
class DateParts(Transformer, OnePass):
    """DateParts: columns of dates as numbers: year, month, day of the week, hour and others, and cycles of them.

    Model       z = the parts of a date; of a cycle of period T  sin(2π t / T), cos(2π t / T), where t goes on within a part (half past
                six is 6.5 of 24 hours), so that the last hour is next to the first
    Objective   none
    Algorithm   the calendar; days of the week count from Monday = 0, "days" are those since 1970-01-01
    Cost        O(n p) time, no state but the columns
    Fails when  a text is no date of the form 2024-12-31 or 2024-12-31T23:59:59 (refused, with its row); numbers are seconds since
                1970-01-01; missing dates give missing parts
    Reference   ISO 8601

    Example
    -------
    >>> import tenfold
    >>> parts = tenfold.DateParts(parts=["year", "month", "dayofweek"], cycles=[])
    >>> parts.fit_transform([["2024-02-29"], ["2023-12-31"]]).tolist()
    [[2024.0, 2.0, 3.0], [2023.0, 12.0, 6.0]]
    """

    stats_: Any = learned("Counts(1)", "weight of the rows", optional=True)

    parts: Any = param(default=("year", "month", "day", "dayofweek", "hour"), doc=f"which of {', '.join(PARTS)}")
    _: KW_ONLY
    cycles: Any = param(default=("dayofyear", "dayofweek"), doc=f"which of {', '.join(PERIODS)} as sine and cosine")

    missing: ClassVar[bool] = True
    double: ClassVar[bool] = True
    by_verbs: ClassVar[bool] = True  # it wants the dates as they were given
    exempt: ClassVar[dict[str, str]] = {"column_order": "the parts of a column stand where it stands in X"}

    def _chosen(self) -> list[tuple[str, bool]]:
        """The new columns of a column: a part, and whether it is a cycle."""
        found = []
        for name, known in (("parts", PARTS), ("cycles", tuple(PERIODS))):
            given = getattr(self, name)
            if not isinstance(given, (str, list, tuple, type(None))):
                raise BadParameter(f"DateParts({name}={check.short(given)}): must be a list of {', '.join(known)}")
            given = [given] if isinstance(given, str) else list(given or [])
            for one in given:
                if one not in known:
                    raise BadParameter(f"DateParts({name}=[..., {one!r}]): must be of {', '.join(known)}")
            found += [(one, name == "cycles") for one in given]
        if not found:
            raise BadParameter("DateParts(parts=[], cycles=[]): nothing is left of the dates: name a part")
        return found

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Look at the dates."""
        self._chosen()
        names = None if check.elsewhere(X) else check.frame_names(X)
        super().fit(seconds_of(X), y, sample_weight)
        if names is not None:
            vars(self)["feature_names_in_"] = names
        return self

    def _summarize(self, block: Block) -> Counts:
        return Counts.of_rows(block)

    def _solve(self, stats: Counts) -> dict[str, Any]:
        return {}

    def transform(self, X: Any) -> Any:
        """The parts of the dates."""
        check.check_fitted(self)
        if not check.elsewhere(X):
            check.check_names(self, check.frame_names(X))
        plain = self._fitted_copy({})
        vars(plain).pop("feature_names_in_", None)
        return self._dressed(map_rows(self._transform, check.check_predict(plain, seconds_of(X))), X)

    def _transform(self, X: Array) -> Array:
        if (np.abs(X) > LARGEST).any():  # of NaN it is false
            row, column = (int(place) for place in np.argwhere(np.abs(X) > LARGEST)[0])
            raise BadInput(f"column {column}, row {row}: {X[row, column]:g} is no date: numbers are seconds since 1970, below {LARGEST:g}")
        made = [part_of(X[:, j].astype(np.float64), *one) for j in range(X.shape[1]) for one in self._chosen()]
        return np.hstack(made).astype(X.dtype, copy=False)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns: column_part, column_part_sin and column_part_cos."""
        names, out = super().get_feature_names_out(input_features), list[str]()
        for name in names:
            for part, cycle in self._chosen():
                out += [f"{name}_{part}_sin", f"{name}_{part}_cos"] if cycle else [f"{name}_{part}"]
        return np.array(out, dtype=object)


def part_of(seconds: Array, part: str, cycle: bool) -> Array:
    """(rows, 1) of a part, or (rows, 2) of its cycle; NaN for missing dates."""
    gone = np.isnan(seconds)
    whole = np.where(gone, 0.0, seconds)
    days = np.floor(whole / DAY)
    clock = whole - days * DAY
    date = days.astype(np.int64).astype("datetime64[D]")
    year, month = date.astype("datetime64[Y]"), date.astype("datetime64[M]")
    of_year = (date - year.astype("datetime64[D]")).astype(np.float64)
    weekday = (days + 3) % 7  # 1970-01-01 was a Thursday
    months = (month - year.astype("datetime64[M]")).astype(np.float64)
    within = clock / DAY
    length = ((month + 1).astype("datetime64[D]") - month.astype("datetime64[D]")).astype(np.float64)
    of_month = (date - month.astype("datetime64[D]")).astype(np.float64)
    if cycle:
        at = {
            "dayofyear": of_year + within, "dayofweek": weekday + within, "hour": clock / 3600, "minute": clock % 3600 / 60,
            "day": of_month + within, "month": months + (of_month + within) / length,
            "quarter": (months + (of_month + within) / length) / 3,
        }[part]  # fmt: skip
        turn = 2 * np.pi * at / PERIODS[part]
        return np.where(gone[:, None], np.nan, np.column_stack([np.sin(turn), np.cos(turn)]))
    thursday = date + (3 - weekday.astype(np.int64))  # the year of an ISO week is that of its Thursday
    first = thursday.astype("datetime64[Y]").astype("datetime64[D]")
    value = {
        "year": year.astype(np.int64) + 1970, "quarter": months // 3 + 1, "month": months + 1,
        "week": (thursday - first).astype(np.int64) // 7 + 1, "day": of_month + 1, "dayofyear": of_year + 1, "dayofweek": weekday,
        "hour": clock // 3600, "minute": clock % 3600 // 60, "second": clock % 60, "weekend": weekday >= 5, "days": whole / DAY,
    }[part]  # fmt: skip
    return np.where(gone, np.nan, np.asarray(value, dtype=np.float64))[:, None]


def seconds_of(X: Any) -> Any:
    """Dates of a table in memory as seconds since 1970-01-01, NaN for missing ones; numbers, and rows elsewhere, as they are."""
    if check.elsewhere(X):
        return X
    if check.is_frame(X):
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        columns = [_seconds(_array_of(one), column_name(frame.columns, j)) for j, one in enumerate(frame.iter_columns())]
        return np.column_stack(columns) if columns else X
    table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object) if isinstance(X, (list, tuple)) else X
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind in "fiub":
        return X
    if table.dtype.kind == "c":
        raise BadInput("Complex data not supported: dates are texts, moments or numbers of seconds")
    columns = [_seconds(table[:, j], column_name(None, j)) for j in range(table.shape[1])]
    return np.column_stack(columns) if columns else np.empty(table.shape)


def _array_of(column: Any) -> Array:
    kind = column.dtype
    if kind.is_numeric():
        return np.asarray(column.to_numpy())
    return np.asarray(column.to_list(), dtype=object)


def _seconds(values: Array, where: str) -> Array:
    if values.dtype.kind in "fiub":
        seconds = values.astype(np.float64)
        if np.isinf(seconds).any():
            row = int(np.isinf(seconds).argmax())
            raise BadInput(f"Input X contains infinity (inf) in {where}, row {row}: replace or drop such values first")
        return seconds
    if values.dtype.kind == "M":
        moments = values.astype("datetime64[us]")
        return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6)
    return np.array([_second(value, where, row) for row, value in enumerate(values.tolist())])


def _second(value: Any, where: str, row: int) -> float:
    """One date as seconds: a date or time of Python, NumPy or pandas, an ISO text, a number."""
    if value is None or value != value or (isinstance(value, str) and not value.strip()):
        return np.nan
    if isinstance(value, (float, np.number)) or (isinstance(value, int) and -LARGEST < value < LARGEST):
        return float(value)
    if getattr(value, "tzinfo", None) is not None:
        return float(value.timestamp())
    try:
        moment = np.datetime64(value.strip().replace("Z", "") if isinstance(value, str) else value, "us")
    except (ValueError, TypeError, OverflowError):
        refusal = BadInput if isinstance(value, (str, int)) else BadType
        raise refusal(
            f"{where}, row {row}: {repr(value)[:60]} is no date: the argument must be a string such as 2024-12-31 or "
            "2024-12-31T23:59:59, a moment, or a number of seconds since 1970"
        ) from None
    return np.nan if np.isnat(moment) else float(moment.astype(np.int64)) / 1e6
