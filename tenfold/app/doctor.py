"""`tenfold doctor`: whether this machine and this installation are in order.

The numbers of the self-test are known in closed form: coefficients that are all 1, a mean and a spread of whole numbers on a large
offset, a ridge of one column, an AUC that is a fraction.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import tenfold
from tenfold.app.options import JsonResult
from tenfold.app.words import clean
from tenfold.core.errors import BadFile
from tenfold.core.memory import memory
from tenfold.core.threads import thread_budget
from tenfold.score import roc_auc_score
from tenfold.table.reading import pl, read_table

LEAST_MEMORY, LEAST_DISK = 1 << 29, 1 << 28  # bytes below which a warning is due
COMPILED = (
    "boost", "cells", "codes", "columns", "coordinate", "delimited", "density", "embed", "evaluate", "folds", "forest", "grow",
    "ica", "kernels", "linkage", "local", "margin", "near", "nmf", "packed", "pairs", "sparse", "stochastic", "stump",
    "summation", "svm", "text", "trees",
)  # fmt: skip
EXTRAS = ("polars", "pyarrow", "rich", "matplotlib", "jinja2")
Check = tuple[str, Callable[[], str]]


class Wrong(Exception):
    """Something is not in order."""


def doctor_command(as_json: JsonResult = False) -> int:
    """Look at the machine and at the installation: threads, memory, disk, numbers known in closed form, files written and read back.

    Ends with 0 where all is in order, 1 where something is not.

    Example:  tenfold doctor
    """
    found = list(_run())
    if as_json:
        print(json.dumps([dict(check=name, ok=ok, says=text) for name, ok, text in found]))
    else:
        for name, ok, text in found:
            print(clean(f"{'ok   ' if ok else 'WRONG'}  {name:<10} {text}"))
    return 0 if all(ok for _, ok, _ in found) else 1


def _run() -> Iterator[tuple[str, bool, str]]:
    for name, look in CHECKS:
        try:
            yield name, True, look()
        except Wrong as reason:
            yield name, False, str(reason)
        except Exception as reason:  # whatever it is, it is what the doctor is there to tell
            yield name, False, f"{type(reason).__name__}: {reason}"


def _versions() -> str:
    system = f"{platform.system()} {platform.machine()}"
    return f"tenfold {tenfold.__version__}   Python {platform.python_version()}   NumPy {np.__version__}   {system}"


def _compiled() -> str:
    for name in COMPILED:  # by name, as an installation in place has them elsewhere than the package
        try:
            importlib.import_module(f"tenfold._{name}")
        except ImportError as reason:
            raise Wrong(f"the compiled module _{name} cannot be loaded: install tenfold again ({reason})") from None
    return f"{len(COMPILED)} modules"


def _extras() -> str:
    missing = []
    for name in EXTRAS:
        try:
            importlib.import_module(name)
        except ImportError:
            missing.append(name)
    if missing:
        raise Wrong(f"{', '.join(missing)} cannot be imported: pip install 'tenfold[app]'")
    return ", ".join(EXTRAS)


def _threads() -> str:
    return f"{thread_budget()} used of {os.cpu_count()} cores   (TENFOLD_THREADS sets another number)"


def _memory() -> str:
    free, whole = memory()
    limits = (_limit("/sys/fs/cgroup/memory.max"), _limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
    limit = min((one for one in limits if one), default=whole)
    text = f"{free / 2**30:.1f} GiB free of {whole / 2**30:.1f}"
    text += f", at most {limit / 2**30:.1f} for this group of processes" if limit < whole else ""
    if min(free, limit) < LEAST_MEMORY:
        raise Wrong(f"{text}: too little for tables of any size")
    return text


def _limit(path: str) -> float | None:
    try:
        return float(Path(path).read_text().strip())
    except (OSError, ValueError):
        return None


def _disk() -> str:
    return _room(Path.cwd())


def _temporary() -> str:
    return _room(Path(tempfile.gettempdir()))


def _room(folder: Path) -> str:
    free = shutil.disk_usage(folder).free
    text = f"{free / 2**30:.1f} GiB free in {folder}"
    if not os.access(folder, os.W_OK):
        raise Wrong(f"{folder} cannot be written: run tenfold in another folder")
    if free < LEAST_DISK:
        raise Wrong(f"{text}: free some space")
    return text


def _numbers() -> str:
    """Values that are known without a computer."""
    x = np.arange(21.0)
    powers = x[:, None] ** np.arange(1, 6)
    model = tenfold.LinearRegression().fit(powers, 1 + powers.sum(axis=1))  # 1 + x + ... + x⁵, as in NIST's Wampler1
    _near("polynomial", np.append(model.coef_, model.intercept_), np.ones(6), 1e-6)
    scaler = tenfold.StandardScaler().fit(1e9 + np.array([[1.0], [2.0], [3.0]]))
    _near("mean", scaler.mean_, [1e9 + 2], 1e-15)
    _near("spread", scaler.scale_, [np.sqrt(2 / 3)], 1e-9)
    u, v = np.array([1.0, 2, 4]), np.array([2.0, 3, 7])  # w = Σuv / (Σu² + α)
    _near("ridge", tenfold.Ridge(alpha=3.0, fit_intercept=False).fit(u[:, None], v).coef_, [36 / 24], 1e-12)
    _near("AUC", [roc_auc_score([0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.9])], [5 / 6], 1e-15)
    return "polynomial, mean and spread on a large offset, ridge and AUC are what they must be"


def _near(what: str, found: object, exact: object, rtol: float) -> None:
    off = float(np.max(np.abs(np.asarray(found) / np.asarray(exact) - 1)))
    if not off <= rtol:
        raise Wrong(f"{what}: off by {off:.1e} of its value, at most {rtol:.0e} is right: install tenfold and NumPy again")


def _bits() -> str:
    """The same bits with one thread and with several."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = X[:, 0] * X[:, 1] + rng.normal(size=2000)
    said = []
    for count in (1, max(2, thread_budget())):
        with tenfold.threads(count):
            said.append(tenfold.HistGradientBoostingRegressor(max_iter=10).fit(X, y).predict(X))
    if not np.array_equal(said[0], said[1]):
        raise Wrong("one thread and several give different predictions")
    return "one thread and several give the same bits"


def _files() -> str:
    """A model written and read back says the same, and a damaged file is refused."""
    X = np.arange(40.0).reshape(20, 2) % 7
    model = tenfold.DecisionTreeRegressor(max_depth=3).fit(X, X.sum(axis=1))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tenfold"
        tenfold.save(model, path)
        if not np.array_equal(tenfold.load(path).predict(X), model.predict(X)):
            raise Wrong("a model that was saved and loaded predicts something else")
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0xFF
        path.write_bytes(content)
        with contextlib.suppress(BadFile):
            tenfold.load(path)
            raise Wrong("a damaged model file was loaded as if nothing had happened")
    return "a model saved and loaded predicts the same bits; a damaged file is refused"


def _tables() -> str:
    frame = pl.DataFrame({"number": [1.5, None, 3.0], "text": ["a", "ü, \"quoted\"", None]})
    with tempfile.TemporaryDirectory() as folder:
        for end, write in ((".csv", frame.write_csv), (".parquet", frame.write_parquet), (".jsonl", frame.write_ndjson)):
            path = Path(folder) / f"table{end}"
            write(path)
            back = read_table(path).frame
            if back.columns != frame.columns or back["text"].to_list() != frame["text"].to_list():
                raise Wrong(f"a table written as {end} is read as something else")
    return "CSV, Parquet and JSON lines are read as they were written"


CHECKS: tuple[Check, ...] = (
    ("versions", _versions),
    ("compiled", _compiled),
    ("packages", _extras),
    ("threads", _threads),
    ("memory", _memory),
    ("disk", _disk),
    ("temporary", _temporary),
    ("numbers", _numbers),
    ("bits", _bits),
    ("models", _files),
    ("tables", _tables),
)
