"""Saved models: `save`, `load`, `inspect`.

A file holds numbers, texts, arrays, and kinds by their number in the fixed tables of `saved.kinds` and
`saved.statistics`: it cannot name code, and nothing here would run it. The container is in `saved.archive`;
docs/format.md specifies all.
"""

from __future__ import annotations

import math
import os
from collections.abc import Container
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

import numpy as np

import tenfold
from tenfold.base.check import check_fitted, check_params
from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadParameter
from tenfold.core.learned import forms_of, learned_by
from tenfold.core.ops import dense
from tenfold.core.params import domains
from tenfold.core.stats import Storable
from tenfold.kernels.combined import Product, Sum
from tenfold.kernels.kernel import Kernel
from tenfold.saved import archive, kinds, statistics
from tenfold.saved.archive import require
from tenfold.saved.forms import objection

VERSION = 1
IN_RUN = "model.tenfold"  # the model in the folder of a run
NOT_FINITE = {"nan": np.nan, "inf": math.inf, "-inf": -math.inf}


@dataclass(frozen=True)
class Contents:
    """What is inside a saved model."""

    path: str
    kind: str
    parts: list[str]  # learners and statistics inside, in the order of the file
    format_version: int
    written_by: str
    n_features: int
    columns: list[str] | None
    resumable: bool
    holds_training_rows: bool
    size: int  # bytes
    arrays: list[dict[str, Any]]  # dtype, shape and SHA-256 of each
    sha256: str  # of model.json, which holds those of the arrays


def save(model: Any, path: Any, resumable: bool = False) -> None:
    """Write a fitted learner to a file; `resumable` keeps what partial_fit, merge and forget need."""
    path = os.fsdecode(path)
    writer = _Writer(path, resumable)
    writer.put(model)
    if resumable and not any("stats_" in one.get("fitted", ()) for one in writer.objects):
        raise BadParameter(f"save(resumable=True): {type(model).__name__} keeps no statistics to resume from")
    header = dict(format="tenfold", version=VERSION, written_by=tenfold.__version__, objects=writer.objects)
    archive.write(path, header, writer.arrays)


def load(path: Any) -> Any:
    """The learner that was saved in a file, or in the folder of a run. No code from the file is run; an unsound file is refused."""
    with archive.opened(_in_folder(path)) as file:
        return _Reader(file).model()


def inspect(path: Any) -> Contents:
    """What is inside a saved model, without loading it."""
    with archive.opened(_in_folder(path)) as file:
        reader = _Reader(file)
        names = [kind_name(one) for one in reader.objects]
        fitted = reader.objects[-1]["fitted"]
        columns = reader.decoded(fitted.get("feature_names_in_"))
        return Contents(
            path=file.path,
            kind=names[-1],
            parts=names[:-1],
            format_version=VERSION,
            written_by=reader.written_by,
            n_features=fitted.get("n_features_in_", 0),
            columns=None if columns is None else columns.tolist(),
            resumable=any("stats_" in one.get("fitted", ()) for one in reader.objects),
            holds_training_rows=any(map(_holds_rows, reader.objects)),
            size=file.size,
            arrays=file.declared,
            sha256=file.sha256,
        )


def _in_folder(path: Any) -> str:
    """The file of a model: the path itself, or what `tenfold select` has written into the folder."""
    found = os.fsdecode(path)
    if not os.path.isdir(found):
        return found
    if not os.path.isfile(os.path.join(found, IN_RUN)):
        raise BadFile(f"{found}: is not a file, nor a folder of tenfold select: it holds no {IN_RUN}")
    return os.path.join(found, IN_RUN)

DEEPEST_KERNEL = 4  # sums and products inside one another: files are nested 16 deep at most
# Kernels that a file may name: all but those that hold a function.
KERNELS = frozenset({
    "CompoundKernel", "ConstantKernel", "DotProduct", "Exponentiation", "ExpSineSquared", "Laplacian", "Matern", "PairwiseKernel",
    "Polynomial", "Product", "RBF", "RationalQuadratic", "Sum", "WhiteKernel",
})  # fmt: skip


class _Writer:
    """A learner as records and arrays. What a record holds comes before it."""

    def __init__(self, path: str, resumable: bool) -> None:
        self.path, self.resumable = path, resumable
        self.depth = 0  # learners around the one that is being written
        self.nested = 0  # sums and products of kernels around the one that is being written
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
            return [self.encoded(one, place) for one in value]
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


class _Reader:
    """The objects of a file, rebuilt in their order. Each array and each object is used once."""

    def __init__(self, file: archive.Archive) -> None:
        self.file, header = file, file.header
        require(header.get("format") == "tenfold", "is not a saved model of Tenfold")
        version = header.get("version")
        if not isinstance(version, int) or version < 1:
            raise BadFile("has no format version")
        require(version <= VERSION, f"has format version {version}, newer than {VERSION}: update Tenfold")
        require(set(header) == {"format", "version", "written_by", "objects"}, "has unknown fields")
        self.written_by, self.objects = header["written_by"], header["objects"]
        records = isinstance(self.objects, list) and all(isinstance(one, dict) for one in self.objects)
        require(records and isinstance(self.written_by, str), "has fields of a wrong type")
        require(self.objects != [] and "kind" in self.objects[-1], "holds no model")
        for one in self.objects:
            kind_name(one)
        self.used: set[tuple[str, int]] = set()
        self.built: list[Any] = []

    def model(self) -> Any:
        for record in self.objects:
            values = {
                key: {name: self.decoded(value) for name, value in record[key].items()}
                for key in ("params", "fitted", "fields")
                if key in record
            }
            if "kind" in record:
                self.built.append(_learner(record["kind"], **values))
            else:
                self.built.append(_statistic(record["statistic"], **values))
        parts = len(self.file.declared) + len(self.objects) - 1
        require(len(self.used) == parts, "holds parts that nothing uses")
        require(self.objects[-1]["fitted"] != {}, "holds a model that was never fitted")
        return self.built[-1]

    def decoded(self, value: Any) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int) and -(2**63) <= value < 2**64:
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        if isinstance(value, list):
            return [self.decoded(one) for one in value]
        match value:
            case {"float": str(name)} if len(value) == 1 and name in NOT_FINITE:
                return NOT_FINITE[name]
            case {"tuple": list(items)} if len(value) == 1:
                return tuple(self.decoded(one) for one in items)
            case {"map": list(pairs)} if len(value) == 1:
                return dict(self._pair(pair) for pair in pairs)
            case {"array": int(i)} if len(value) == 1:
                return self.file.array(self._use("array", i, len(self.file.declared)))
            case {"array": int(i), "texts": True} if len(value) == 2:
                texts = self.file.array(self._use("array", i, len(self.file.declared)))
                require(texts.dtype.kind == "U", f"holds numbers in array {i} where there must be texts")
                return texts.astype(object)
            case {"kernel": "Sum" | "Product" as name, "terms": [_, _, *_] as terms} if len(value) == 2:
                parts = [self.decoded(one) for one in terms]
                require(all(isinstance(one, Kernel) for one in parts), f"holds a kernel {name} of what is none")
                return reduce(Sum if name == "Sum" else Product, parts)
            case {"kernel": str(name), "of": dict(given)} if len(value) == 2:
                return _made_kernel(name, {key: self.decoded(one) for key, one in given.items()})
            case {"object": int(i)} if len(value) == 1:
                return self.built[self._use("object", i, len(self.built))]
        raise BadFile(f"holds the value {str(value)[:40]}, which is not allowed")

    def _pair(self, pair: Any) -> tuple[Any, Any]:
        require(
            isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], (str, int, float)),
            "holds a map that is not made of pairs",
        )
        return pair[0], self.decoded(pair[1])

    def _use(self, what: str, i: int, n: int) -> int:
        sound = 0 <= i < n and (what, i) not in self.used
        require(sound, f"refers to {what} {i}, which it does not have or has used before")
        self.used.add((what, i))
        return i


def kind_name(record: dict[str, Any]) -> str:
    """The class of a record, from the tables of learners and statistics."""
    learner = "kind" in record
    number = record.get("kind" if learner else "statistic")
    fields = ("params", "fitted") if learner else ("fields",)
    known = type(number) is int and number in (kinds.LEARNERS if learner else statistics.STATISTICS)
    require(known and len(record) == 1 + len(fields), f"holds an object of unknown kind {str(number)[:40]}")
    require(all(isinstance(record.get(key), dict) for key in fields), "holds an object without fields")
    assert isinstance(number, int)
    return kinds.LEARNERS[number] if learner else statistics.STATISTICS[number][1]


def _holds_rows(record: dict[str, Any]) -> bool:
    """Whether a learner or a statistic keeps rows of the training table, or values of its columns."""
    if "statistic" not in record:
        declared = learned_by(getattr(tenfold, kind_name(record)))
        return any(name in declared and declared[name].holds_rows(record["params"]) for name in record["fitted"])
    return record["fields"].get(statistics.ROWS_IN.get(kind_name(record), "")) not in (None, [], {"tuple": []})


def _made_kernel(name: str, params: dict[str, Any]) -> Kernel:
    require(name in KERNELS, f"holds a kernel {name[:40]!r}, which there is not")
    cls = getattr(tenfold.kernels, name)
    require(set(params) == {one.name for one in fields(cls)}, f"holds a kernel {name} with parameters that it does not have")
    made: Kernel = cls(**params)
    wrong = made.objection()
    require(wrong is None, f"holds a kernel {name} in which {wrong}")
    return made


def _statistic(number: int, fields: dict[str, Any]) -> Any:
    _, name, forms = statistics.STATISTICS[number]
    wrong = objection(fields, forms)
    require(wrong is None, f"holds {name} in which {wrong}")
    made = statistics.statistic_class(number)(**fields)
    wrong = made.objection()
    require(wrong is None, f"holds {name} in which {wrong}")
    return made


def _learner(number: int, params: dict[str, Any], fitted: dict[str, Any]) -> Any:
    name = kinds.LEARNERS[number]
    cls = getattr(tenfold, name)
    require(set(params) <= set(domains(cls)), f"holds {name} with parameters that it does not have")
    learner = cls(**params)
    check_params(learner)
    if not fitted:
        return learner
    wrong = objection(fitted, forms_of(cls))
    require(wrong is None, f"holds {name} in which {wrong}")
    vars(learner).update(fitted)
    asked = fitted["n_features_in_"], fitted.get("categories_") or ()
    for wrong in (*(value.misfit(*asked) for value in fitted.values() if isinstance(value, Storable)), learner._objection()):
        require(wrong is None, f"holds {name} in which {wrong}")
    return learner
