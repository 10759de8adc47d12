"""The ordinary route of transformers side by side: each is asked by its public verbs, for its columns of what the user gave.

Taken where one of them is not Tenfold's, or gets arguments of its own (metadata routing). What they make may be arrays, sparse matrices or
frames; it is put side by side as it is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, Transformer
from tenfold.base.foreign import objection_to, takes_anything
from tenfold.base.routing import routed, router, routing_enabled
from tenfold.base.sklearn_api import fresh
from tenfold.compose.named import Named, is_out, is_word
from tenfold.compose.ordinary import fit_transform_step, print_step
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadType
from tenfold.gate.containers import frame_names
from tenfold.gate.inputs import Given


class Part(NamedTuple):
    """A transformer (None: the columns pass), its columns, and whether it is given one of them alone, in one dimension."""

    name: str
    learner: Any
    places: Array
    alone: bool


class OrdinaryUnion(Transformer, Named):
    """Abstract: fits and asks its transformers by their verbs."""

    verbose: Any
    copies = True  # whether copies of the transformers are fitted, or they themselves
    sparse_below = 1.0  # the share of values that are not zero below which dense and sparse columns together are sparse

    def _entries(self) -> list[tuple[str, Any, Any]]:
        raise NotImplementedError

    def _places(self, source: Any) -> list[Array]:
        raise NotImplementedError

    def _weights(self) -> dict[str, float]:
        raise NotImplementedError

    def _foreign(self) -> bool:
        """Whether one of the transformers is not ours."""
        return takes_anything([one for _, one, _ in self._entries() if not is_word_or_out(one)])

    @property
    def accepts(self) -> str:
        return "anything" if self._foreign() else "rows"

    def _looked_at(self, name: str, learner: Any) -> Any:
        if isinstance(learner, Estimator) and hasattr(learner, "transform"):
            return learner
        here = f"{type(self).__name__}: {name!r}"
        if isinstance(learner, type):
            kind = learner.__name__
            raise BadType(f"Expected an estimator instance ({kind}()), got estimator class instead ({kind}). {here} is a class")
        if objection_to(learner) is not None or not hasattr(learner, "transform"):
            raise BadType(
                "All estimators should implement fit and transform, or can be 'drop' or 'passthrough' specifiers. "
                f"{learner!r} (type {type(learner).__name__}) doesn't: {here} cannot transform"
            )
        return learner

    # --- fit ---

    def _fit_members(self, verb: str, X: Any, y: Any, given: dict[str, Any]) -> Any:
        """Fit each transformer to its columns: what they make of the same rows, side by side. Those that are fitted themselves, and not
        copies of them, are not asked to transform where the verb is `fit`."""
        table, entries = _as_table(X), self._entries()
        for name, one, _ in entries:
            if not is_word_or_out(one):
                self._looked_at(name, one)
        self._weights()  # looked at before the work
        names = frame_names(table)
        source: Any = SimpleNamespace(
            n_features=Given(table).shape[1], looked=self._look(table),
            facts={"n_features_in_": Given(table).shape[1]} | ({} if names is None else {"feature_names_in_": names}),
        )  # fmt: skip
        columns = self._places(source)
        vars(self).update(source.facts, _columns=columns, _by_verbs=True, _members=[])
        if names is None:
            vars(self).pop("feature_names_in_", None)
        received = routed(self, verb, given) if routing_enabled() else None
        members, made, only = [], [], verb == "fit" and not self.copies
        parts = self._some_parts(entries, columns, source.looked)
        for place, part in enumerate(parts):
            Z, began = _columns(table, part, names), time.perf_counter()
            if part.learner is not None:
                one = fresh(part.learner) if self.copies else part.learner
                self._contained(one)
                mine = dict.fromkeys(("fit", "fit_transform"), given) if received is None else received[part.name]
                with _explained_1d(part):
                    if only:
                        one.fit(Z, y, **mine.get("fit", {}))
                    else:
                        Z = self._checked(part.name, fit_transform_step(one, Z, y, mine)[0], table)
                members.append(one)
            made.append((part if part.learner is None else part._replace(learner=one), Z))
            if self.verbose:
                step = "" if self.copies else "step "
                print_step(f"[{type(self).__name__}]", f"({step}{place + 1} of {len(parts)}) Processing {part.name}", began)
        vars(self)["_members"] = members
        vars(self).pop("_sparse_made", None)
        return None if only else self._side_by_side(made, X)

    def _some_parts(self, entries: list[tuple[str, Any, Any]], columns: list[Array], looked: Any = None) -> list[Part]:
        parts, known = [], vars(self).get("_alone", {}) if looked is None else {}
        for (name, one, how), places in zip(entries, columns, strict=True):
            if len(places) and not is_out(one):
                given = looked.get(how, how) if looked and callable(how) else how
                alone = bool(known.get(name)) or (isinstance(given, (str, int, np.integer)) and not isinstance(given, bool))
                parts.append(Part(name, None if is_word(one, "passthrough") else one, places, alone))
        if looked is not None:
            vars(self)["_alone"] = {part.name: part.alone for part in parts}
        return parts

    def _contained(self, learner: Any) -> None:
        """Tell a transformer inside which container is wanted."""
        chosen = vars(self).get("_output")
        if chosen is not None and hasattr(learner, "set_output"):
            learner.set_output(transform=chosen)

    def _checked(self, name: str, Z: Any, X: Any) -> Any:
        """What a transformer has made: a table with as many rows as it was given."""
        shape = getattr(Z, "shape", None)
        if shape is None or len(shape) != 2:
            raise BadInput(
                f"Transformer {name!r} returned an array or dataframe with {1 if shape is None else len(shape)} dimensions. "
                f"The output of the {name!r} transformer should be 2D (numpy array, scipy sparse array, dataframe)."
            )
        if shape[0] != Given(X).shape[0] and shape[1]:  # a frame of no columns has no rows
            raise BadInput(f"{type(self).__name__}: {name!r} has made {shape[0]} rows of {Given(X).shape[0]}: their number must not change")
        return Z

    # --- fitted ---

    def _fitted_parts(self) -> list[Part]:
        """The entries that make columns, with their fitted transformers."""
        check.check_fitted(self)
        members, parts = iter(self._members), []
        for part in self._some_parts(self._entries(), self._columns):
            parts.append(part if part.learner is None else part._replace(learner=next(members)))
        return parts

    def _ask_members(self, X: Any, given: dict[str, Any]) -> Any:
        """What the fitted transformers make of rows, side by side."""
        parts, names = self._fitted_parts(), vars(self).get("feature_names_in_")
        received = routed(self, "transform", given) if routing_enabled() else None
        table, made = _as_table(X), []
        self._check_columns(table, parts)
        for part in parts:
            Z = _columns(table, part, names if check.is_frame(table) else None)
            if part.learner is not None:
                Z = part.learner.transform(Z, **(given if received is None else received[part.name].get("transform", {})))
            made.append((part, self._checked(part.name, Z, table)))
        return self._side_by_side(made, X)

    def _check_columns(self, table: Any, parts: list[Part]) -> None:
        """The columns of fit are there: those that are used of a frame with names, else as many."""
        names, width = vars(self).get("feature_names_in_"), Given(table).shape[1]
        if names is not None and check.is_frame(table):
            found = frame_names(table)
            there = set() if found is None else set(map(str, found))
            gone = sorted({str(names[j]) for part in parts for j in part.places} - there)
            if gone:
                raise BadInput(f"columns are missing: {set(gone)}")
        elif width != vars(self).get("n_features_in_", width):
            raise BadInput(f"X has {width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input.")

    def _side_by_side(self, made: list[tuple[Part, Any]], X: Any) -> Any:
        weights = self._weights()
        tables = [Z * weights[part.name] if part.name in weights else Z for part, Z in made]
        vars(self)["_made_names"] = {part.name: [str(one) for one in Z.columns] for part, Z in made if check.is_frame(Z)}
        vars(self)["_widths"] = [Z.shape[1] for Z in tables]
        container = self._container()
        if not tables:
            return np.empty((Given(X).shape[0], 0))
        if container == "default":
            return self._stacked(tables)
        names = [str(name) for name in self.get_feature_names_out()]
        return _one_frame(tables, names, container, getattr(X, "index", None))

    def _stacked(self, tables: list[Any]) -> Any:
        sparse = [ops.is_sparse(Z) for Z in tables]
        if any(sparse):
            total = sum(Z.shape[0] * Z.shape[1] for Z in tables)
            full = sum(Z.nnz if one else np.size(Z) for Z, one in zip(tables, sparse, strict=True))
            few = full < self.sparse_below * total or self.sparse_below == 1.0
            if vars(self).setdefault("_sparse_made", few):  # as it was in fit
                from scipy.sparse import csr_matrix, hstack

                try:
                    return hstack([Z if ops.is_sparse(Z) else csr_matrix(np.asarray(Z, dtype=np.float64)) for Z in tables]).tocsr()
                except ValueError as reason:
                    raise BadInput(
                        "For a sparse output, all columns should be a numeric or convertible to a numeric: set sparse_threshold=0"
                    ) from reason
        return np.hstack([Z.toarray() if one else Z for Z, one in zip(tables, sparse, strict=True)])

    def _names_made(self, part: Part, old: Any) -> list[str]:
        """The names of the columns that a transformer makes."""
        known = vars(self).get("_made_names", {})
        if part.learner is None:
            return [str(name) for name in old]
        if hasattr(part.learner, "get_feature_names_out"):
            return [str(name) for name in part.learner.get_feature_names_out(old)]
        if part.name in known:
            return list(known[part.name])
        raise AttributeError(f"Transformer {part.name} (type {type(part.learner).__name__}) does not provide get_feature_names_out.")

    def get_metadata_routing(self) -> Any:
        """Which transformer receives what beside X and y (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        inside = []
        for name, one, _ in self._entries():
            if not is_word_or_out(one):
                whole = ["fit_transform"] if hasattr(one, "fit_transform") else ["fit", "transform"]
                calls = [("fit_transform", callee) for callee in whole] + [("transform", "transform")]
                inside.append((name, one, [("fit", callee) for callee in (whole if self.copies else ["fit"])] + calls))
        return router(self, inside)


@contextmanager
def _explained_1d(part: Part) -> Iterator[None]:
    """A column alone comes in one dimension, which most transformers refuse."""
    try:
        yield
    except ValueError as reason:
        if part.alone and "Expected 2D array, got 1D array instead" in str(reason):
            raise BadInput(
                f"1D data passed to a transformer that expects 2D data: {part.name!r}. Try to specify the column selection as a list "
                "of one item instead of a scalar."
            ) from reason
        raise


def is_word_or_out(one: Any) -> bool:
    return is_out(one) or is_word(one, "passthrough")


def _as_table(X: Any) -> Any:
    """A list of rows as an array of objects; all else as it is."""
    if hasattr(X, "shape") or check.is_frame(X):
        return X
    made = np.asarray(X)
    return made if made.dtype.kind not in "US" else np.asarray(X, dtype=object)


def _columns(X: Any, part: Part, names: Array | None) -> Any:
    """Some columns of a table, in the same kind of container."""
    places = part.places
    if check.is_frame(X):
        if names is not None:
            chosen = [str(names[j]) for j in places]
            return X[chosen[0]] if part.alone else X[chosen]
        return X.iloc[:, int(places[0])] if part.alone else X.iloc[:, places]
    if getattr(X, "ndim", 2) != 2:
        return X
    if ops.is_sparse(X) and X.format not in ("csr", "csc", "lil"):
        X = X.tocsr()
    if part.alone:
        return X[:, int(places[0])]
    return X if len(places) == X.shape[1] and (places == np.arange(len(places))).all() else X[:, places]


def _one_frame(tables: list[Any], names: list[str], container: str, index: Any) -> Any:
    """Tables side by side as one frame of pandas or polars, each column of its own type."""
    dense = [Z.toarray() if ops.is_sparse(Z) else Z for Z in tables]
    if container == "polars":
        import polars

        start, columns = 0, dict[str, Any]()
        for Z in dense:
            frame = Z if isinstance(Z, polars.DataFrame) else polars.DataFrame(np.asarray(Z))
            columns.update(zip(names[start : start + Z.shape[1]], frame.get_columns(), strict=True))
            start += Z.shape[1]
        return polars.DataFrame(columns)
    import pandas

    frames = [Z if isinstance(Z, pandas.DataFrame) else pandas.DataFrame(np.asarray(Z), index=index) for Z in dense]
    n = len(frames[0])
    made = pandas.concat(frames, axis=1)
    if len(made) != n:
        raise BadInput(
            "Concatenating DataFrames from the transformer's output lead to an inconsistent number of samples. The output may have Pandas "
            "Indexes that do not match. Let each transformer keep the index of its rows"
        )
    made.columns = names
    return made
