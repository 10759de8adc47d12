"""Saved models with edited fields and right checksums: what somebody who knows the format can send.

A `Crafted` file is the header and the arrays of a sound one, to be changed at will; `bytes()` makes an archive of it in which every
size and every SHA-256 is right. `edits` yields the ways to spoil one field of it.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Edit = Callable[["Crafted"], None]

NUMBERS: list[Any] = [0, -1, 1, 2**28, 2**62, 0.5, {"float": "nan"}, {"float": "inf"}, None, "x", []]
WHOLE = [0, -1, 1, 2**28, 2**62]
REAL = [0.0, -1.0, 1e308, np.nan, np.inf]


@dataclass
class Crafted:
    """The header and the arrays of a saved model."""

    header: dict[str, Any]
    arrays: list[Array]

    @classmethod
    def of(cls, data: bytes) -> Crafted:
        """Those of a sound file."""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            header = json.loads(archive.read("model.json"))
            arrays = [np.load(io.BytesIO(archive.read(f"{i}.npy"))) for i in range(len(header["arrays"]))]
        return cls(header, arrays)

    def copy(self) -> Crafted:
        return Crafted(copy.deepcopy(self.header), list(self.arrays))

    def bytes(self) -> bytes:
        """An archive in which all sizes and checksums are right."""
        described, parts = [], []
        for array in self.arrays:
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            parts.append(buffer.getvalue())
            fortran = bool(array.flags.f_contiguous and not array.flags.c_contiguous)
            digest = hashlib.sha256(parts[-1]).hexdigest()
            described.append(dict(dtype=array.dtype.str, fortran=fortran, shape=list(array.shape), sha256=digest))
        text = json.dumps({**self.header, "arrays": described}).encode()
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(zipfile.ZipInfo("model.json"), text)
            archive.writestr(zipfile.ZipInfo("model.sha256"), hashlib.sha256(text).hexdigest())
            for i, part in enumerate(parts):
                archive.writestr(zipfile.ZipInfo(f"{i}.npy"), part)
        return buffer.getvalue()

    def edited(self, edit: Edit) -> bytes:
        other = self.copy()
        edit(other)
        return other.bytes()

    @property
    def model(self) -> dict[str, Any]:
        """The record of the model itself."""
        record: dict[str, Any] = self.header["objects"][-1]
        return record

    def array(self, name: str) -> int:
        """The number of the array of a fitted attribute or a field, in the last object that has it; of a list the first."""
        for one in reversed(self.header["objects"]):
            found = {**one.get("fitted", {}), **one.get("fields", {})}.get(name)
            found = found[0] if isinstance(found, list) else found
            if isinstance(found, dict) and "array" in found:
                return int(found["array"])
        raise KeyError(name)


def edits(file: Crafted) -> Iterator[tuple[str, Edit]]:
    """All ways to spoil one field of the file, each with a name: values, entries that are dropped or repeated, arrays."""
    for path in _paths(file.header["objects"]):
        yield from _edits_of_value(file, path)
    for i, array in enumerate(file.arrays):
        for what, other in _spoiled(array):
            yield f"array {i} {array.dtype}{array.shape} {what}", _replacing(i, other)


def _edits_of_value(file: Crafted, path: tuple[Any, ...]) -> Iterator[tuple[str, Edit]]:
    value, name = _at(file.header["objects"], path), "/".join(map(str, path))
    if isinstance(value, (int, float)) or value is None or (isinstance(value, dict) and "float" in value):
        for number in NUMBERS:
            yield f"{name} = {number}", _setting(path, number)
    elif isinstance(value, str):
        for text in ("", "x", "\0", 0, None):
            yield f"{name} = {text!r}", _setting(path, text)
    elif isinstance(value, dict) and ("array" in value or "object" in value):
        for other in (0, -1, None, {"object": 0}, {"array": 0}, "x", []):
            yield f"{name} = {other}", _setting(path, other)
    yield f"{name} dropped", _dropping(path)
    if isinstance(path[-1], int):
        yield f"{name} repeated", _repeating(path)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key in list(value if isinstance(value, dict) else range(len(value))):
        if path and key in ("array", "object", "float", "texts"):
            continue  # the reference is edited as a whole
        yield (*path, key)
        if isinstance(value[key], (dict, list)):
            yield from _paths(value[key], (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _setting(path: tuple[Any, ...], value: Any) -> Edit:
    def edit(file: Crafted) -> None:
        _at(file.header["objects"], path[:-1])[path[-1]] = value

    return edit


def _dropping(path: tuple[Any, ...]) -> Edit:
    def edit(file: Crafted) -> None:
        del _at(file.header["objects"], path[:-1])[path[-1]]

    return edit


def _repeating(path: tuple[Any, ...]) -> Edit:
    def edit(file: Crafted) -> None:
        items = _at(file.header["objects"], path[:-1])
        items.insert(path[-1], copy.deepcopy(items[path[-1]]))

    return edit


def _replacing(i: int, array: Array) -> Edit:
    def edit(file: Crafted) -> None:
        file.arrays[i] = array

    return edit


def _spoiled(array: Array) -> Iterator[tuple[str, Array]]:
    """The array in other shapes, of another type, and with single values changed."""
    flat = array.reshape(-1)
    if array.ndim > 1:
        yield "transposed", np.ascontiguousarray(array.T)
        yield "flat", flat
    if array.shape[:1] > (0,):
        yield "without its last", array[:-1]
        yield "with its last twice", np.concatenate([array, array[-1:]])
        yield "empty", array[:0]
    yield "with another axis", array[None]
    values: list[Any] = {"i": WHOLE, "u": [0, 1, 255], "f": REAL, "U": ["", "\0"], "b": [True, False]}[array.dtype.kind]
    for place in sorted({0, len(flat) // 2, len(flat) - 1} & set(range(len(flat)))):
        for value in values:
            other = flat.copy()
            limit = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
            other[place] = value if limit is None else np.clip(value, limit.min, limit.max)
            yield f"[{place}] = {value}", other.reshape(array.shape)
    if array.dtype.kind in "if":
        yield "reversed", np.ascontiguousarray(flat[::-1]).reshape(array.shape)
    if array.dtype.kind == "f":
        yield "zero", np.zeros_like(array)
        yield "as whole numbers", np.nan_to_num(array, nan=0, posinf=9, neginf=-9).astype(np.int64)
    else:
        yield "as zeros", np.zeros(array.shape)
