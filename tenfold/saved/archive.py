"""The container of a saved model: a zip archive, not compressed, of `model.json` and `0.npy`, `1.npy`, ...

Written whole or not at all; the same content gives the same bytes. On reading, every size is checked against
the size of the file before memory is taken for it, and every part against its SHA-256. See docs/format.md.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadFile, TenfoldError
from tenfold.saved.writing import replacing

HEADER, DIGEST = "model.json", "model.sha256"
LARGEST_HEADER, DEEPEST_HEADER, MOST_LISTS, MOST_AXES, CHUNK = 1_000_000, 16, 20_000, 8, 1 << 20
DTYPE = re.compile(r"<f4|<f8|<i4|<i8|<u8|\|u1|\|b1|<U[1-9]\d{0,4}")
# A JSON text. One that is not closed matches to the end, so that a search takes linear time.
TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
# What zipfile, json and a constructor raise on damaged or forged input.
DAMAGE = (
    zipfile.BadZipFile,
    EOFError,
    struct.error,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RuntimeError,
)


def require(sound: bool, otherwise: str) -> None:
    """Refuse the file unless `sound`; `opened` puts its path in front."""
    if not sound:
        raise BadFile(otherwise)


# --- writing ------------------------------------------------------------------------------------------------


def write(path: str, header: dict[str, Any], arrays: list[Array]) -> None:
    """Write the header, with a description of the arrays added, and the arrays."""
    described = [_described(array) for array in arrays]
    text = json.dumps({**header, "arrays": described}, allow_nan=False, separators=(",", ":")).encode()
    if len(text) > LARGEST_HEADER:
        raise BadFile(f"{path}: cannot be written: its parameters take over {LARGEST_HEADER:,} bytes")
    try:
        _parsed(text)
    except BadFile as failure:
        raise BadFile(f"{path}: cannot be written: {failure}") from None
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, HEADER, text)
        _add(archive, DIGEST, hashlib.sha256(text).hexdigest().encode())
        for i, (array, one) in enumerate(zip(arrays, described, strict=True)):
            _add(archive, f"{i}.npy", _npy_start(one), _raw(array))


def can_hold(array: Array) -> bool:
    return DTYPE.fullmatch(array.dtype.newbyteorder("<").str) is not None and array.ndim <= MOST_AXES


def _described(array: Array) -> dict[str, Any]:
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    one = dict(dtype=array.dtype.newbyteorder("<").str, fortran=bool(fortran), shape=list(array.shape))
    digest = hashlib.sha256(_npy_start(one))
    digest.update(_raw(array))
    return {**one, "sha256": digest.hexdigest()}


def _npy_start(one: dict[str, Any]) -> bytes:
    """The first bytes of an .npy file, as NumPy writes them; on reading they are compared, never parsed."""
    shape = tuple(one["shape"])
    text = f"{{'descr': {one['dtype']!r}, 'fortran_order': {one['fortran']}, 'shape': {shape}, }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def _raw(array: Array) -> memoryview:
    """The bytes of the array in its own order, little end first; no copy where it is so already."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return little.ravel(order="A").view(np.uint8).data


def _add(archive: zipfile.ZipFile, name: str, *pieces: bytes | memoryview) -> None:
    """One entry, uncompressed, with a fixed date."""
    entry = zipfile.ZipInfo(name)
    entry.create_system, entry.external_attr, entry.file_size = 3, 0o644 << 16, sum(map(len, pieces))
    with archive.open(entry, "w") as file:
        for piece in pieces:
            file.write(piece)


# --- reading ------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def opened(path: Any) -> Iterator[Archive]:
    """The archive at this path; whatever goes wrong while reading it is one BadFile that names the path."""
    path = os.fsdecode(path)
    try:
        require(stat.S_ISREG(os.stat(path).st_mode), "is not a file")
        with open(path, "rb") as file:
            yield Archive(path, file)
    except OSError as failure:
        raise BadFile(f"{path}: cannot be read ({failure.strerror or failure})") from failure
    except TenfoldError as failure:
        raise BadFile(f"{path}: {failure}") from failure
    except DAMAGE as failure:
        raise BadFile(f"{path}: is damaged or not a saved model ({failure})") from failure


class Archive:
    """The header, checked and parsed, and the arrays on demand."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        self.path, self.size = path, os.fstat(file.fileno()).st_size
        self.zip = zipfile.ZipFile(file)
        self.entries = self.zip.infolist()
        for entry in self.entries:
            plain = stat.S_IFMT(entry.external_attr >> 16) in (0, stat.S_IFREG) and entry.flag_bits == 0
            stored = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
            require(plain and stored, f"its entry {entry.filename[:40]!r} is not a plain, uncompressed file")
        wanted = [HEADER, DIGEST, *(f"{i}.npy" for i in range(len(self.entries) - 2))]
        names = [entry.filename for entry in self.entries]
        require(names == wanted, "its entries are not those of a saved model")
        total = sum(entry.file_size for entry in self.entries)
        require(total <= self.size, "its entries claim more bytes than the file has")
        text = self._small(0, LARGEST_HEADER)
        self.sha256 = hashlib.sha256(text).hexdigest()
        require(self._small(1, 64) == self.sha256.encode(), f"{HEADER} is damaged: its SHA-256 is another")
        self.header = _parsed(text)
        self.declared = self.header.pop("arrays", None)
        self._check_declared()

    def _small(self, place: int, largest: int) -> bytes:
        entry = self.entries[place]
        require(entry.file_size <= largest, f"its entry {entry.filename} has more than {largest:,} bytes")
        return self.zip.read(entry)

    def _check_declared(self) -> None:
        counted = isinstance(self.declared, list) and len(self.declared) == len(self.entries) - 2
        require(counted, "declares another number of arrays than it has")
        for i, one in enumerate(self.declared):
            require(_is_description(one), f"declares array {i} in a form that is not allowed")
            size = len(_npy_start(one)) + math.prod(one["shape"]) * np.dtype(one["dtype"]).itemsize
            require(size == self.entries[i + 2].file_size, f"declares another size of array {i} than it has")

    def array(self, i: int) -> Array:
        """Array i, with the bytes that were saved."""
        one, start = self.declared[i], _npy_start(self.declared[i])
        array = np.empty(math.prod(one["shape"]), dtype=one["dtype"])
        memory = array.view(np.uint8)
        with self.zip.open(self.entries[i + 2]) as file:
            require(file.read(len(start)) == start, f"array {i} is not an .npy file of its declared form")
            digest = hashlib.sha256(start)
            for place in range(0, len(memory), CHUNK):
                piece = file.read(min(CHUNK, len(memory) - place))
                memory[place : place + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
                digest.update(piece)
        require(digest.hexdigest() == one["sha256"], f"array {i} is damaged: its SHA-256 is another")
        if array.dtype.kind == "U":
            require(bool((array.view("<u4") <= 0x10FFFF).all()), f"array {i} holds impossible characters")
        if array.dtype.kind == "b":
            require(bool((array.view(np.uint8) <= 1).all()), f"array {i} holds truth values that are neither")
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        return native.reshape(one["shape"], order="F" if one["fortran"] else "C")


def _parsed(text: bytes) -> dict[str, Any]:
    """A JSON object without duplicate keys, NaN, or deep nesting."""
    brackets = TEXT.sub(b"", text).translate(None, NO_BRACKETS)
    require(len(brackets) <= 2 * MOST_LISTS, f"{HEADER} has more than {MOST_LISTS:,} lists and objects")
    depth = 0
    for bracket in brackets:
        depth += 1 if bracket in b"[{" else -1
        require(depth <= DEEPEST_HEADER, f"{HEADER} is nested more than {DEEPEST_HEADER} deep")
    header = json.loads(text.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    require(isinstance(header, dict), f"{HEADER} is not a JSON object")
    return dict(header)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    require(len(dict(pairs)) == len(pairs), f"{HEADER} holds a key twice")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise BadFile(f"{HEADER} holds {name}, which is not JSON")


def _is_description(one: Any) -> bool:
    if not isinstance(one, dict) or set(one) != {"dtype", "fortran", "shape", "sha256"}:
        return False
    shape = one["shape"]
    return (
        isinstance(one["dtype"], str)
        and DTYPE.fullmatch(one["dtype"]) is not None
        and isinstance(one["fortran"], bool)
        and isinstance(one["sha256"], str)
        and isinstance(shape, list)
        and len(shape) <= MOST_AXES
        and all(type(size) is int and 0 <= size < 2**48 for size in shape)
    )
