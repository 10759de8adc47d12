"""A learner as records and arrays: what `save` writes."""

from __future__ import annotations

import math
from collections.abc import Container
from itertools import groupby
from typing import Any

import numpy as np

import tenfold
from tenfold.base.check import check_fitted
from tenfold.core.data import Array
from tenfold.core.errors import BadFile
from tenfold.core.learned import forms_of, learned_by
from tenfold.core.ops import dense
from tenfold.kernels.combined import Product, Sum
from tenfold.kernels.kernel import Kernel
from tenfold.saved import archive, kinds, statistics
from tenfold.saved.forms import objection
from tenfold.saved.kernels import DEEPEST_KERNEL, KERNELS

MANY_EMPTY = 100  # arrays without a text in a row, from which they are counted: fewer are written so that older versions can read them


class Encoder:
    """Records in their order: what a record holds comes before it."""

    def __init__(self, path: str, resumable: bool) -> None:
        self.path, self.resumable = path, resumable
        self.depth = 0  # learners around the one that is being written
        self.nested = 0  # sums and products of kernels around the one that is being written
        self.version = 1  # of the format: the oldest that can hold what is written
        self.objects: list[dict[str, Any]] = []
        self.arrays: list[Array] = []

    def put(self, learner: Any, place: str = "") -> dict[str, int]:
        name = type(learner).__name__
        number = kinds.NUMBER_OF_LEARNER.get(name)
        if number is None or getattr(tenfold, name) is not type(learner):
            here = f"{self.path}: {place} is a {name}, which" if place else f"{self.path}: a {name}"
            raise BadFile(f"{here} cannot be saved, only Tenfold's own learners can: use pickle or joblib")
        params = learner._saved_params()
        if self.depth and "n_features_in_" not in vars(learner):  # a parameter, as the one a RANSACRegressor copies
            return self._append(dict(kind=number, params=self._all(params, name), fitted={}))
        check_fitted(learner)
        declared = learned_by(learner)
        names = sorted(name for name in set(vars(learner)) - set(params) if self._keeps(name, declared))
        fitted = {name: dense(vars(learner)[name]) for name in names}
        wrong = objection(fitted, forms_of(learner))
        if wrong is not None:
            raise BadFile(f"{self.path}: this {name} cannot be saved, because {wrong}")
        return self._append(dict(kind=number, params=self._all(params, name), fitted=self._all(fitted, name)))

    def _keeps(self, name: str, declared: Container[str]) -> bool:
        """All fitted attributes, but caches (`_name`) only if declared, and statistics only if asked for."""
        return self.resumable if name == "stats_" else name in declared or not name.startswith("_")

    def _append(self, record: dict[str, Any]) -> dict[str, int]:
        self.objects.append(record)
        return {"object": len(self.objects) - 1}

    def _all(self, values: dict[str, Any], owner: str) -> dict[str, Any]:
        return {key: self.encoded(value, f"{owner}.{key}") for key, value in values.items()}

    def encoded(self, value: Any, place: str) -> Any:
        if isinstance(value, (np.bool_, np.integer, np.floating)):
            value = value.item()
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int) and -(2**63) <= value < 2**64:
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, place)
        if isinstance(value, list):
            return self._list(value, place)
        if isinstance(value, tuple):
            place = f"{place} {value[0]!r}" if len(value) > 1 and isinstance(value[0], str) else place  # a step of a pipeline
            return {"tuple": [self.encoded(one, place) for one in value]}
        if isinstance(value, dict):
            return {"map": [[self._key(key, place), self.encoded(one, place)] for key, one in value.items()]}
        if isinstance(value, Kernel):
            return self._kernel(value, place)
        number = statistics.statistic_number(value)
        if number is not None:
            return self._append(dict(statistic=number, fields=self._all(statistics.fields_of(value), place)))
        if hasattr(value, "get_params") and not isinstance(value, type):
            self.depth += 1
            record = self.put(value, place)
            self.depth -= 1
            return record
        raise BadFile(
            f"{self.path}: {place} is a {type(value).__name__}, which a file cannot hold: "
            "set it to a number, a text or None"
        )

    def _list(self, values: list[Any], place: str) -> list[Any]:
        """Item by item; arrays without a text, as columns of numbers have for their levels, are counted."""
        written: list[Any] = []
        for empty, run in groupby(values, _is_empty_texts):
            items = list(run)
            if empty and len(items) >= MANY_EMPTY:
                self.version = 2
                written.append({"empty_texts": len(items)})
            else:
                written += [self.encoded(one, place) for one in items]
        return written

    def _kernel(self, kernel: Kernel, place: str) -> dict[str, Any]:
        name = type(kernel).__name__
        if name not in KERNELS or getattr(tenfold.kernels, name) is not type(kernel):
            raise BadFile(f"{self.path}: {place} is a {name}, which a file cannot hold: only Tenfold's own kernels without functions")
        if isinstance(kernel, (Sum, Product)):
            terms = kernel.terms()
            self.nested += 1
            if self.nested > DEEPEST_KERNEL:
                raise BadFile(f"{self.path}: {place} is nested deeper than a file can hold: write the kernel with fewer brackets")
            written = [self.encoded(one, place) for one in terms]
            self.nested -= 1
            return {"kernel": name, "terms": written}
        return {"kernel": name, "of": self._all(kernel.get_params(deep=False), f"{place}.{name}")}

    def _key(self, key: Any, place: str) -> str | int | float:
        if isinstance(key, (np.integer, np.floating)):
            key = key.item()
        if not isinstance(key, (str, int, float)) or key != key or key in (math.inf, -math.inf):
            raise BadFile(f"{self.path}: {place} has the key {key!r}, which a file cannot hold")
        return key

    def _array(self, array: Array, place: str) -> dict[str, Any]:
        texts = {}
        if array.dtype == object:
            values, texts = array.ravel().tolist(), {"texts": True}
            array = np.array(values, dtype=np.str_).reshape(array.shape)
            if any(type(value) is not str for value in values) or array.ravel().tolist() != values:
                raise BadFile(f"{self.path}: {place} holds values other than texts, which a file cannot hold")
        if not archive.can_hold(array):
            raise BadFile(f"{self.path}: {place} is an array of {array.dtype}, which a file cannot hold")
        self.arrays.append(array)
        return {"array": len(self.arrays) - 1, **texts}


def _is_empty_texts(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object and value.shape == (0,)
