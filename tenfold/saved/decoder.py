"""Records and arrays as the learner that they were: what `load` reads. An unsound file is refused."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

import tenfold
from tenfold.base.check import check_params
from tenfold.core.errors import BadFile
from tenfold.core.learned import forms_of
from tenfold.core.params import domains
from tenfold.core.stats import Storable
from tenfold.kernels.combined import Product, Sum
from tenfold.kernels.kernel import Kernel
from tenfold.saved import archive, kinds, statistics
from tenfold.saved.archive import require
from tenfold.saved.forms import objection
from tenfold.saved.kernels import made_kernel

VERSION = 2  # of the format, the newest that is read
MOST_EMPTY = 100_000  # arrays without a text that a file may count
NOT_FINITE = {"nan": np.nan, "inf": math.inf, "-inf": -math.inf}


class Decoder:
    """The objects of a file, rebuilt in their order. Each array and each object is used once."""

    def __init__(self, file: archive.Archive) -> None:
        self.file, header = file, file.header
        require(header.get("format") == "tenfold", "is not a saved model of Tenfold")
        version = header.get("version")
        if not isinstance(version, int) or version < 1:
            raise BadFile("has no format version")
        require(version <= VERSION, f"has format version {version}, newer than {VERSION}: update Tenfold")
        require(set(header) == {"format", "version", "written_by", "objects"}, "has unknown fields")
        self.version: int = version
        self.written_by, self.objects = header["written_by"], header["objects"]
        records = isinstance(self.objects, list) and all(isinstance(one, dict) for one in self.objects)
        require(records and isinstance(self.written_by, str), "has fields of a wrong type")
        require(self.objects != [] and "kind" in self.objects[-1], "holds no model")
        for one in self.objects:
            kind_name(one)
        self.used: set[tuple[str, int]] = set()
        self.empty = 0  # arrays without a text so far, that were counted
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
            return [item for one in value for item in self._items(one)]
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
                return made_kernel(name, {key: self.decoded(one) for key, one in given.items()})
            case {"object": int(i)} if len(value) == 1:
                return self.built[self._use("object", i, len(self.built))]
        raise BadFile(f"holds the value {str(value)[:40]}, which is not allowed")

    def _items(self, value: Any) -> list[Any]:
        """What a value stands for in a list: itself, or so many arrays without a text."""
        match value:
            case {"empty_texts": int(count)} if len(value) == 1 and not isinstance(count, bool) and self.version >= 2:
                require(1 <= count <= MOST_EMPTY - self.empty, f"counts more than {MOST_EMPTY:,} arrays without a text, or less than one")
                self.empty += count
                return [np.empty(0, dtype=object) for _ in range(count)]
        return [self.decoded(value)]

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
