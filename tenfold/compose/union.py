"""Transformers side by side: what several make of the same rows, in columns beside one another."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.base.foreign import learner_of
from tenfold.base.routing import refuse_unrouted
from tenfold.base.sklearn_api import fresh
from tenfold.compose.fitting import Viewed, side_by_side
from tenfold.compose.named import is_out, is_word, kind_of
from tenfold.compose.ordinary_union import OrdinaryUnion
from tenfold.compose.seen_columns import SeenColumns, columns_of, marked
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, group, param
from tenfold.gate.categories import whole_numbers
from tenfold.gate.inputs import AsGiven
from tenfold.solve.columns import Distinct

ROW_FACTS = ("feature_names_in_", "categories_", "n_features_in_")


@group
class Union(OrdinaryUnion):
    """Abstract: each entry is a transformer of some columns, or lets them pass; what they make stands side by side.

    Ours are fitted in one reading of the rows; where one is anybody else's, they take the ordinary route (`compose.ordinary_union`).
    """

    _members: list[Any] = learned("[part](t)", "the fitted transformers")
    _columns: list[Array] = learned("[int(*)<p](e)", "the columns of each entry")
    _by_verbs: bool = learned("bool", "whether the transformers are asked by their public verbs", optional=True)

    _: KW_ONLY
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    transformer_weights: dict[str, Any] | None = param(default=None, doc="by name, what the new columns are multiplied by")
    verbose: bool = param(default=False, doc="no effect: use tenfold.progress()")
    verbose_feature_names_out: Any = param(
        default=True, doc="new names are entry__name; False: name alone; or a format of transformer_name and feature_name, or a function"
    )

    exempt: ClassVar[dict[str, str]] = {
        "column_order": "the new columns of a transformer stand in the order of its columns in X, between those of others",
    }
    missing: ClassVar[bool] = True  # each transformer says itself which of its columns may have gaps or categories
    categorical: ClassVar[bool] = True
    categorical_features: ClassVar[str] = "from_dtype"
    given_categories: ClassVar[None] = None
    unseen: ClassVar[str] = "mark"
    fills: ClassVar[bool] = True
    codes: ClassVar[bool] = True

    def _entries(self) -> list[tuple[str, Any, Any]]:
        """Name, transformer or word, and columns."""
        raise NotImplementedError

    def _places(self, source: Source) -> list[Array]:
        """The columns of each entry."""
        raise NotImplementedError

    def _columns_used(self) -> Array | None:
        return None

    @property
    def _ordinary(self) -> bool:
        """Whether the transformers are asked by their verbs."""
        return bool(vars(self).get("_by_verbs")) or self._foreign()

    def _learners(self) -> list[tuple[str, Any]]:
        taking = [(name, self._looked_at(name, one)) for name, one, _ in self._entries() if not _is_word(one)]
        return [(name, learner_of(one, name)) for name, one in taking]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Fit each transformer to its columns; `params` are for the fits of the transformers."""
        if not self._goes_by_verbs(params):
            vars(self).pop("_by_verbs", None)
            return super().fit(X, y, sample_weight)
        self._fit_members("fit", X, y, _with_weights(sample_weight, params))
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Fit, then transform the same rows."""
        if not self._goes_by_verbs(params):
            return self.fit(X, y, sample_weight).transform(X)
        return self._fit_members("fit_transform", X, y, _with_weights(sample_weight, params))

    def _goes_by_verbs(self, params: dict[str, Any]) -> bool:
        return bool(params) or self._foreign()

    @property
    def passes_gaps(self) -> bool:
        """Whether missing values may be left for what comes behind."""
        passing = any(is_word(one, "passthrough") for _, one, _ in self._entries())
        return passing or any(one.missing and not one.fills for _, one in self._learners())

    @property
    def least_rows(self) -> int:
        return max((one.least_rows for _, one in self._learners()), default=1)

    @property
    def kind(self) -> str:
        members = [one for _, one in self._learners()]
        plain = all(one.kind == "one pass" and not one.categorical for one in members)
        return "one pass" if plain else kind_of([one.kind for one in members])

    @property
    def target(self) -> str:
        wanted = {one.target for _, one in self._learners()} - {"none"}
        if len(wanted) > 1:
            raise BadParameter(f"{type(self).__name__}: one transformer wants labels as target, another numbers")
        return wanted.pop() if wanted else "none"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if isinstance(source, AsGiven):
            X, y, w = source.given()
            self._fit_members("fit", X, y, _with_weights(w, {}))
            return {}
        self._weights()  # looked at before the work
        columns = self._places(source)
        working = [
            (name, fresh(one), places) for (name, one, _), places in zip(self._entries(), columns, strict=True)
            if not _is_word(one) and len(places)
        ]  # fmt: skip
        inner = yield from self._categories(working, source)
        seen = {name: SeenColumns.of(name, one, places, source.facts, inner[name]) for name, one, places in working}
        views = {
            name: Viewed(source, partial(_seen_by, seen, name), source.target, _facts(source, places, inner[name]))
            for name, _, places in working
        }
        members = {name: one for name, one, _ in working}
        fitted = yield from side_by_side(members, views, partial(_seen_by, seen), named=True)
        return {"_members": list(fitted.values()), "_columns": columns}

    def _categories(self, working: list[tuple[str, Any, Array]], source: Source) -> Learner[dict[str, Any]]:
        """The categories of the columns of each transformer; those of numbers that are to be categories take a pass."""
        found = {name: marked(name, one, places, source.facts) for name, one, places in working}
        places = {name: where for name, _, where in working}
        open_ = sorted({int(places[name][k]) for name, (_, ks) in found.items() for k in ks})
        values: dict[int, Array] = {}
        if open_:
            values = dict(zip(open_, (yield partial(_different, tuple(open_))).values, strict=True))
        out: dict[str, Any] = {}
        for name, (known, ks) in found.items():
            out[name] = None if known is None else list(known)
            for k in ks:
                out[name][k] = whole_numbers(values[int(places[name][k])])
        return out

    def _weights(self) -> dict[str, float]:
        given, names = self.transformer_weights or {}, [name for name, _, _ in self._entries()]
        for name, weight in given.items():
            here = f"{type(self).__name__}(transformer_weights={check.short(given)})"
            if name not in names:
                raise BadParameter(
                    f'{here}: Attempting to weight transformer "{name}", but it is not present in {self.listed}. There are only {names}'
                )
            if isinstance(weight, bool) or not isinstance(weight, (int, float, np.number)) or not np.isfinite(weight):
                raise BadParameter(f"{here}: the weight of {name!r} must be a finite number")
        return dict(given)

    # --- fitted ---

    def _parts(self) -> list[tuple[str, Any, Array]]:
        """Name, fitted transformer (None: the columns pass) and columns of each entry that makes columns."""
        check.check_fitted(self)
        members, parts = iter(self._members), []
        for (name, one, _), places in zip(self._entries(), self._columns, strict=True):
            if len(places) and not is_out(one):
                parts.append((name, None if is_word(one, "passthrough") else next(members), places))
        return parts

    def _sparse_row(self) -> tuple[float, int] | None:
        """That of all entries together, where it is sparse enough."""
        parts = [(places, None if one is None else one._sparse_row(), one) for _, one, places in self._parts()]
        if not any(row for _, row, _ in parts):
            return None
        widths = [(len(places), len(places)) if one is None else _dense_row(one) if row is None else row for places, row, one in parts]
        full, width = sum(one[0] for one in widths), sum(one[1] for one in widths)
        return (full, width) if full < self.sparse_below * width or self.sparse_below == 1.0 else None

    def _transform(self, X: Any) -> Any:
        if self._ordinary:
            return self._ask_members(X, {})
        return self._joined(X, sparse=False)

    def _joined(self, X: Any, sparse: bool) -> Any:
        """What the fitted transformers make of clean rows; `sparse`: those that make sparse rows do."""
        facts = {key: vars(self)[key] for key in ROW_FACTS if key in vars(self)}
        weights, made = self._weights(), []
        for name, one, places in self._parts():
            if one is None:
                Z = columns_of(X, places)
            else:
                rows = SeenColumns.of(name, one, places, facts, vars(one).get("categories_"))(X)
                Z = one._undressed(rows) if sparse else one._transform(rows)
            made.append(Z * weights[name] if name in weights else Z)
        if not made:
            return np.empty((X.shape[0], 0), dtype=X.dtype)
        if not any(ops.is_sparse(Z) for Z in made):
            return np.concatenate(made, axis=1, dtype=X.dtype)
        from scipy.sparse import csr_matrix, hstack

        return hstack([Z if ops.is_sparse(Z) else csr_matrix(Z) for Z in made], format="csr")

    def transform(self, X: Any, **params: Any) -> Any:
        """What the transformers make of the rows, side by side; objects where columns of text pass."""
        if params or self._ordinary:
            refuse_unrouted(self, "transform", params)
            return self._ask_members(X, params)
        if check.is_frame(X) and type(X).__module__.startswith(self._container()):  # a frame of a frame: each column of its own type
            return self._ask_members(X, {})
        return self._dressed(map_rows(self._undressed, check.check_predict(self, X)), X)

    def _undressed(self, X: Any) -> Any:
        if self._leaves_text():
            return self._named(X)
        return self._joined(X, sparse=True) if self._sparse_row() else self._transform(X)

    def _categories_out(self) -> list[Array | None]:
        """The categories of the new columns, None for numbers."""
        outer, out = vars(self).get("categories_"), list[Array | None]()
        for _, one, places in self._parts():
            if one is None:
                out += [None] * len(places) if outer is None else [outer[j] for j in places]
            else:
                left = one._categories_out()
                out += [None] * len(one.get_feature_names_out()) if left is None else left
        return out

    def _text_out(self) -> list[int]:
        return [j for j, one in enumerate(self._categories_out()) if _is_text(one)]

    def _leaves_text(self) -> bool:
        """Whether `_text_out` has columns, which need not be counted to know that."""
        outer = vars(self).get("categories_")
        for _, one, places in self._parts():
            passed = None if outer is None else [outer[j] for j in places]
            if any(map(_is_text, (passed if one is None else one._categories_out()) or ())):
                return True
        return False

    def _named(self, X: Any) -> Array:
        """The new rows with the categories themselves instead of their codes."""
        Z, known = self._transform(X), self._categories_out()
        out = Z.astype(object)
        for j in self._text_out():
            texts = known[j]
            assert texts is not None
            names = np.append(texts.astype(object), np.nan)
            out[:, j] = names[np.where(np.isnan(Z[:, j]) | (Z[:, j] < 0), -1, Z[:, j]).astype(np.int64)]
        return np.asarray(out)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        old = super().get_feature_names_out(input_features)
        pairs = [(part.name, new) for part in self._fitted_parts() for new in self._names_made(part, old[part.places])]
        return self._prefixed(pairs)

    def _prefixed(self, pairs: list[tuple[str, str]]) -> Array:
        """Names of new columns, of the entry and the column, as `verbose_feature_names_out` wants them."""
        how = self.verbose_feature_names_out
        if callable(how):
            return np.array([how(name, new) for name, new in pairs], dtype=object)
        if isinstance(how, str) or how:
            form = how if isinstance(how, str) else "{transformer_name}__{feature_name}"
            return np.array([form.format(transformer_name=name, feature_name=new) for name, new in pairs], dtype=object)
        names = [new for _, new in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            shown = "[" + ", ".join(map(repr, twice[:5])) + (", ...]" if len(twice) > 5 else "]")
            raise BadInput(
                f"Output feature names: {shown} are not unique. Please set verbose_feature_names_out=True to add prefixes to feature names"
            )
        return np.array(names, dtype=object)

    def _fitted_by_name(self) -> dict[str, Any]:
        made = {name: "passthrough" if one is None else one for name, one, _ in self._parts()}
        return {name: made.get(name, "drop" if is_out(one) else one) for name, one, _ in self._entries()}

    def _objection(self) -> str | None:
        entries = self._entries()
        if len(self._columns) != len(entries):
            return "there are not columns for each entry"
        working = [where for (_, one, _), where in zip(entries, self._columns, strict=True) if not _is_word(one) and len(where)]
        if [one.n_features_in_ for one in self._members] != [len(where) for where in working]:
            return "a transformer takes another number of columns than are there for it"
        return None if all(hasattr(one, "transform") for one in self._members) else "a learner inside cannot transform"


def _dense_row(one: Any) -> tuple[int, int]:
    width = len(one.get_feature_names_out())
    return width, width


def _with_weights(sample_weight: Any, params: dict[str, Any]) -> dict[str, Any]:
    return params if sample_weight is None else {"sample_weight": sample_weight, **params}


def _is_text(categories: Array | None) -> bool:
    """Whether a column of these categories, None for numbers, holds text."""
    return categories is not None and categories.dtype.kind != "b"  # truth values are numbers too


def _is_word(one: Any) -> bool:
    return is_out(one) or is_word(one, "passthrough")


def _facts(source: Source, places: Array, inner: Any) -> dict[str, Any]:
    """What the gate knows of some columns."""
    facts = {key: fact for key, fact in source.facts.items() if key not in ROW_FACTS}
    facts["n_features_in_"] = len(places)
    if "feature_names_in_" in source.facts:
        facts["feature_names_in_"] = source.facts["feature_names_in_"][places]
    return facts if inner is None else {**facts, "categories_": inner}


def _seen_by(seen: Mapping[str, SeenColumns], name: str, block: Block) -> Block:
    return block.with_X(seen[name](block.X))


def _different(places: tuple[int, ...], block: Block) -> Distinct:
    X = np.ascontiguousarray(ops.dense(block.X)[:, list(places)])
    return Distinct.of(X, block.w, ~np.isnan(X))
