"""Damaged and forged model files, and a child process that tries to load them: `python mutants.py FOLDER`.

Damaged files (truncated, flipped) must be refused or load equal. Forged files, whose checksums are right,
must be refused or be a sound model. None may run code, take longer than a second, or much memory.
"""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import io
import json
import marshal
import pickle
import random
import stat
import struct
import sys
import time
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

Parts = list[tuple[str, bytes]]

ODD = [None, True, -1, 0, 1, 3, 2**31, 2**62, 2**64, 10**30, 1e308, -0.0, "", "../x", "x" * 1000, "\ud800"]
ODD += [
    [],
    [[]],
    {},
    {"array": 0},
    {"array": 1},
    {"array": 2},
    {"array": -1},
    {"array": 10**9},
    {"object": 0},
    {"object": 7},
    {"array": 0, "texts": True},
    {"tuple": [1]},
    {"map": [[1, 2]]},
    {"map": [[[], 2]]},
    {"float": "nan"},
    {"float": "__import__"},
]
FORGED_DTYPES = ["<f4", "<i8", "<i4", "<u8", "|u1", "|b1", "<U1", "<U2", "|O", "<M8[s]", ">f8", "<c16", "|V8"]
HURTFUL_NAMES = ["../escape.npy", "/etc/escape", "C:\\escape", "0.npy\0x", "model.json", "0.npy", "9.npy"]


def parts_of(data: bytes) -> Parts:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def packed(parts: Parts, compression: int = zipfile.ZIP_STORED, attributes: int = 0) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in parts:
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.external_attr = compression, attributes
            archive.writestr(entry, content)
    return buffer.getvalue()


def forged(parts: Parts, text: bytes) -> bytes:
    """The file with another header whose checksum is right."""
    digest = hashlib.sha256(text).hexdigest().encode()
    return packed([("model.json", text), ("model.sha256", digest), *parts[2:]])


def with_array(parts: Parts, i: int, array: Any) -> bytes:
    """Array i replaced, with its shape, type and checksum declared as they are."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=array.dtype == object)
    content = buffer.getvalue()
    header = json.loads(parts[0][1])
    header["arrays"][i] = dict(
        dtype=array.dtype.str, fortran=False, shape=list(array.shape), sha256=hashlib.sha256(content).hexdigest()
    )
    parts = [*parts[: i + 2], (f"{i}.npy", content), *parts[i + 3 :]]
    return forged(parts, json.dumps(header).encode())


class Canary:
    """An object whose pickle would leave a file behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return Path.touch, (self.folder / "canary",)


def damaged(data: bytes, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Truncations, flipped bits, overwritten, inserted and removed bytes."""
    for _ in range(40):
        yield "truncated", data[: rng.randrange(len(data))]
    for _ in range(90):
        place = rng.randrange(len(data))
        yield "flipped", data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    for _ in range(15):
        place, size = rng.randrange(len(data)), rng.randrange(1, 40)
        yield "overwritten", data[:place] + rng.randbytes(size) + data[place + size :]
        yield "inserted", data[:place] + rng.randbytes(size) + data[place:]
        yield "removed", data[:place] + data[place + size :]
    yield "empty", b""
    yield "doubled", data + data


def edited(parts: Parts, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """The header with one value replaced, removed or repeated, its checksum right."""
    for _ in range(90):
        header = json.loads(parts[0][1])
        places = list(_places(header))
        holder, key = rng.choice(places)
        action = rng.randrange(4)
        if action == 0:
            del holder[key]
        elif action == 1 and isinstance(holder, dict):
            holder[f"{key}x"] = holder.pop(key)
        elif action == 1:
            holder.append(holder[key])
        else:
            holder[key] = rng.choice(ODD)
        yield "edited", forged(parts, json.dumps(header).encode())


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key in list(value if isinstance(value, dict) else range(len(value))):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def resized(parts: Parts, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Arrays of another shape, type or content, everything declared as it is."""
    for _ in range(4):
        for i, (_, content) in enumerate(parts[2:]):
            array = np.load(io.BytesIO(content))
            shape = [max(0, size + rng.choice([-1, 0, 1, 2])) for size in array.shape]
            yield "resized", with_array(parts, i, np.resize(array, shape + [1] * rng.choice([0, 0, 1, 6])))
            if array.dtype.kind == "f":
                spoiled = array.copy()
                spoiled.flat[0] = rng.choice([np.nan, np.inf, 1e308])
                yield "spoiled", with_array(parts, i, spoiled)
            if array.dtype.kind == "i":
                yield "index", with_array(parts, i, array + rng.choice([-(2**31), -1, 1000, 2**31 - 100]))


def tricks(parts: Parts, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Everything that has hurt another loader."""
    text, planted = parts[0][1], pickle.dumps(Canary(folder))
    code = marshal.dumps(compile(f"open({str(folder / 'canary')!r}, 'w')", "x", "exec"))
    header = json.loads(text)
    for name in HURTFUL_NAMES:
        yield f"entry {name}", packed([*parts, (name, planted)])
        yield f"entry {name} first", packed([(name, planted), *parts])
    for i, (name, _) in enumerate(parts):
        for content in (planted, code, b"", zlib.compress(b"\0" * 10**6), b"\x93NUMPY\x01\x00\xff\xff"):
            yield f"planted {i}", packed([*parts[:i], (name, content), *parts[i + 1 :]])
    objects = np.array([Canary(folder)] * 4, dtype=object)
    for i in range(len(parts) - 2):
        yield "objects", with_array(parts, i, objects)
    for dtype in FORGED_DTYPES:
        header["arrays"][0]["dtype"] = dtype
        yield f"type {dtype}", forged(parts, json.dumps(header).encode())
    header = json.loads(text)
    for shape in ([2**40], [2**62, 4], [2**31] * 2, [-4], [0], [10**9] * 8, [4.0], ["4"], [True], 4, None):
        header["arrays"][0]["shape"] = shape
        yield f"shape {shape}", forged(parts, json.dumps(header).encode())
    yield "deflated", packed(parts, zipfile.ZIP_DEFLATED)
    yield "bomb", packed([("model.json", b" " * 10**7), *parts[1:]], zipfile.ZIP_DEFLATED)
    yield "array bomb", packed([*parts[:2], ("0.npy", b"\0" * 10**7)], zipfile.ZIP_DEFLATED)
    yield "large header", forged(parts, text + b" " * 10**6)
    yield "symbolic link", packed(parts, attributes=(stat.S_IFLNK | 0o777) << 16)
    yield "folder", packed(parts, attributes=(stat.S_IFDIR | 0o777) << 16)
    yield "deep", forged(parts, b'{"a":' * 5000 + b"1" + b"}" * 5000)
    yield "deep list", forged(parts, b"[" * 100_000)
    yield "deep after a quote", forged(parts, b'{"\\"":' + b"[" * 17 + b"]" * 17 + b"}")
    yield "many lists", forged(parts, b"[" + b"[]," * 300_000 + b"0]")
    yield "open text", forged(parts, b'"' + b'\\"' * 490_000)
    yield "twice", forged(parts, text[:-1] + b',"version":1}')
    yield "not a number", forged(parts, text.replace(b'"version":1', b'"version":NaN'))
    yield "long number", forged(parts, text.replace(b'"version":1', b'"version":' + b"9" * 9000))
    yield "not UTF-8", forged(parts, text.replace(b"tenfold", b"tenf\xff\xfed"))
    yield "newer", forged(parts, text.replace(b'"version":1', b'"version":2'))
    for content in (b"null", b"[]", b"{}", b"3", b'"x"', b"", b"\0" * 100):
        yield f"header {content[:5]!r}", forged(parts, content)
    for content in (planted, code, b"PK\x05\x06" + b"\0" * 18, b"PK\x05\x06" + b"\xff" * 18, b"#!/bin/sh\n"):
        yield "another format", content
    good = packed(parts)
    for offset in (20, 24):  # sizes in the central directory, compressed and not
        at = good.rindex(b"PK\x01\x02") + offset
        yield "directory lies", good[:at] + struct.pack("<I", 0xFFFFFFF0) + good[at + 4 :]
    at = good.index(b"PK\x01\x02")
    yield "encrypted", good[: at + 8] + b"\x01\x00" + good[at + 10 :]


def make(folder: Path, seeds: Parts) -> int:
    """Write all mutants of the given good files; returns how many."""
    rng, count = random.Random(0), 0
    for name, data in seeds:
        parts = parts_of(data)
        for group, mutants in (
            ("damaged", damaged(data, rng)),
            ("forged", edited(parts, rng)),
            ("forged", resized(parts, rng)),
            ("forged", tricks(parts, folder)),
        ):
            for what, mutant in mutants:
                safe = "".join(c if c.isalnum() else "-" for c in what)[:30]
                (folder / f"{name}.{group}.{count}.{safe}.tenfold").write_bytes(mutant)
                count += 1
    return count


# --- the child ---

FORBIDDEN = ("pickle.", "marshal.", "exec", "compile", "import", "os.system", "subprocess.", "ctypes.")
RUNS_CODE = [
    (builtins, "eval"),
    (builtins, "exec"),
    (builtins, "compile"),
    (marshal, "load"),
    (marshal, "loads"),
    (pickle, "load"),
    (pickle, "loads"),
    (pickle, "Unpickler"),
]
events: list[str] = []


def _refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("the loader asked for code")


@contextlib.contextmanager
def without_code() -> Iterator[None]:
    """Take away all that could run code, and note what the interpreter itself sees of it."""
    originals = [getattr(module, name) for module, name in RUNS_CODE]
    import_module = builtins.__import__

    def import_what_is_there(name: str, *rest: Any) -> Any:
        return import_module(name, *rest) if name in sys.modules else _refuse()

    for module, name in RUNS_CODE:
        setattr(module, name, _refuse)
    builtins.__import__ = import_what_is_there
    try:
        yield
    finally:
        builtins.__import__ = import_module
        for (module, name), original in zip(RUNS_CODE, originals, strict=True):
            setattr(module, name, original)


def main(folder: Path) -> None:
    """Load every mutant, and print what went wrong."""
    from tenfold import BadFile, load

    rows = np.load(folder / "rows.npy")
    good = {path.name.split(".")[0]: load(path).predict(rows) for path in folder.glob("*.good.tenfold")}
    mutants = sorted(folder.glob("*.*.*.*.tenfold"))
    loading = True
    sys.addaudithook(lambda event, _: events.append(event) if loading and event.startswith(FORBIDDEN) else 0)
    compile("0", "", "eval")
    assert events == ["compile"], "the watch does not work"
    events.clear()
    problems, refused, slowest = [], 0, 0.0
    warnings.simplefilter("ignore")
    tracemalloc.start()
    for path in mutants:
        model = None
        tracemalloc.reset_peak()
        before, start = tracemalloc.get_traced_memory()[0], time.process_time()
        loading = True
        try:
            with without_code():
                model = load(path)
        except BadFile as told:
            refused += 1
            if path.name not in str(told) or "\n" in str(told):
                problems.append(f"{path.name}: {told}")
        except BaseException as failure:
            problems.append(f"{path.name}: {type(failure).__name__}: {failure}")
        loading = False
        seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1] - before
        slowest = max(slowest, seconds)
        if seconds > 1 or peak > 2 * path.stat().st_size + 4_000_000:
            problems.append(f"{path.name}: {seconds:.2f} s, {peak:,} bytes")
        if model is not None:
            name, group = path.name.split(".")[:2]
            problems += _judged(path.name, group, model, rows, good[name])
    found = dict(tried=len(mutants), refused=refused, slowest=slowest, events=events, problems=problems)
    print(json.dumps(found))


def _judged(name: str, group: str, model: Any, X: Any, wanted: Any) -> list[str]:
    """A damaged file that loads must be equal; a forged one may be another model, or say what is wrong."""
    try:
        found = np.asarray(model.predict(X))
    except ValueError as told:
        return [f"{name}: {told}"] if group == "damaged" else []
    if group == "damaged" and not np.array_equal(found, wanted):
        return [f"{name}: loaded, and predicts otherwise"]
    return []


if __name__ == "__main__":
    main(Path(sys.argv[1]))
