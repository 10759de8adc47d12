"""Outputs of every setting on every table: out of fold, and on rows kept apart, of the refit and of the mean of the fold models."""

from __future__ import annotations

import os
import re
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from bench.portfolio.settings import Setting, Shape, settings_for
from bench.tables import ENDING, read_table, tables_in
from tenfold.base import check
from tenfold.base.sklearn_api import fresh
from tenfold.evaluate.split.splitters import assign_folds

FOLDS, TENTHS, SEED = 5, 7, 0  # of ten parts of a table, seven are for training
MOST_ROWS, MOST_UNSEEN = 2000, 3000  # of training, and of test
TOO_SLOW = 45.0  # seconds of processor for one fit
LEFT_OUT = ("faithful",)  # its label was derived from the two measurements


@dataclass
class Split:
    """A table, cut: training rows in five folds, and the rest; as a frame and as a matrix of numbers."""

    name: str
    y: np.ndarray  # of training
    fold: np.ndarray
    unseen: np.ndarray  # the truth of the rest
    frame: tuple[Any, Any]  # training rows, the rest
    matrix: tuple[np.ndarray, np.ndarray]
    shape: Shape


def cut(path: Path) -> Split:
    table = read_table(path)
    rng = np.random.default_rng(SEED)
    codes = table.y if table.n_classes else None
    part = assign_folds(len(table.y), 10, rng, codes=codes)
    training, rest = (
        rng.permutation(np.flatnonzero(rows))[:most] for rows, most in ((part < TENTHS, MOST_ROWS), (part >= TENTHS, MOST_UNSEEN))
    )
    y = table.y[training]
    fold = assign_folds(len(y), FOLDS, rng, codes=y if table.n_classes else None)
    X = table.X.copy()
    for column in X.columns:
        if X[column].dtype == "category":
            X[column] = X[column].astype(object)
    trees, linear = (tenfold.Prepare(purpose).fit(X.iloc[training]) for purpose in ("trees", "linear"))
    frame = tuple(trees.transform(X.iloc[rows]) for rows in (training, rest))
    matrix = tuple(linear.transform(X.iloc[rows]) for rows in (training, rest))
    shape = Shape(
        rows=int(np.sum(fold != 0)),
        width=matrix[0].shape[1],
        classes=table.n_classes,
        categories=any(str(dtype) == "String" for dtype in frame[0].dtypes),
        lowest=0.0 if table.n_classes else float(table.y.min()),
        skew=0.0 if table.n_classes else float(np.mean(((y - y.mean()) / y.std()) ** 3)),
    )
    return Split(path.name.removesuffix(ENDING), y, fold, table.y[rest], frame, matrix, shape)


class Bench:
    """Fits settings to training rows of one table."""

    def __init__(self, split: Split) -> None:
        self.split = split
        self.shift = 0.0 if split.shape.lowest > 0 else 1.0
        self.classes = np.arange(split.shape.classes) if split.shape.classes else None
        self.raw: dict[tuple[bool, Any], Any] = {}

    def outputs(self, setting: Setting, rows: np.ndarray, wanted: list[tuple[int, np.ndarray]]) -> tuple[list[np.ndarray], float]:
        """(values, rows, outputs) of models fitted to some training rows, for rows of training (0) or of the rest (1); and the seconds."""
        y = np.log(self.split.y + self.shift) if setting.log else self.split.y
        center, spread = 0.0, 1.0
        if setting.path == "alpha":
            center, spread = float(y[rows].mean()), float(y[rows].std()) or 1.0
            y = (y - center) / spread
        kept = self._frame(setting, y) if setting.steps is None else None
        began = time.process_time()
        front: list[Any] = []
        if kept is not None:
            source = kept.select(rows)
        else:
            Z = self.split.matrix[0][rows]
            for step in setting.steps or ():
                front.append(fresh(step).fit(Z))
                Z = front[-1].transform(Z)
            source = check.in_memory(setting.learner, Z, y[rows], None, self.classes)
        models = self._models(setting, source)
        seconds = time.process_time() - began
        found = []
        for side, some in wanted:
            if setting.steps is None:
                Z = check.check_predict(models[0], self.split.frame[side])[some]
            else:
                Z = self.split.matrix[side][some]
                for step in front:
                    Z = step.transform(Z)
            said = [model._probabilities(Z) if self.split.shape.classes else model._predict(Z).reshape(len(some), 1) for model in models]
            values = np.stack(said) * spread + center if not self.split.shape.classes else np.stack(said)
            found.append(np.exp(np.minimum(values, 50)) - self.shift if setting.log else values)
        return found, seconds

    def _frame(self, setting: Setting, y: np.ndarray) -> Any:
        """The training rows as trees take them, coded once."""
        key = setting.log, getattr(setting.learner, "categorical_features", None)
        if key not in self.raw:
            self.raw[key] = check.in_memory(setting.learner, self.split.frame[0], y, None, self.classes)
        return self.raw[key]

    def _models(self, setting: Setting, source: Any) -> list[Any]:
        if setting.path is None:
            return [fresh(setting.learner)._fit(source)]
        if setting.learner.path == setting.path:
            return list(fresh(setting.learner)._fit_path(source, setting.path, list(setting.values)))
        models, start = [], None
        for value in setting.values:
            models.append(fresh(setting.learner).set_params(**{setting.path: value})._fit(source, start))
            start = models[-1]._solution()
        return models


def file_of(store: Path, table: str, setting: Setting) -> Path:
    return store / table / (re.sub(r"[^\w.]+", "_", setting.name) + ".npz")


def measure_one(store: Path, bench: Bench, setting: Setting) -> str:
    """Five folds and the refit, written; where a fit takes too long or fails, a note of that."""
    split = bench.split
    path = file_of(store, split.name, setting)
    n, test = len(split.y), np.arange(len(split.unseen))
    kept: dict[str, Any] = {}
    seconds = 0.0
    try:
        for k in range(FOLDS):
            held = np.flatnonzero(split.fold == k)
            (out, rest), seconds = bench.outputs(setting, np.flatnonzero(split.fold != k), [(0, held), (1, test)])
            if not kept:
                kept = dict(held_out=np.zeros((len(out), n, out.shape[2]), np.float32), folds=np.zeros_like(rest))
            kept["held_out"][:, held] = out
            kept["folds"] += rest / FOLDS
            if seconds > TOO_SLOW:
                raise TimeoutError(f"{seconds:.0f} s for one fit")
        (refit,), seconds = bench.outputs(setting, np.arange(n), [(1, test)])
        values = np.array([np.nan if value is None else value for value in setting.values], dtype=float)
        kept.update(folds=kept["folds"].astype(np.float32), refit=refit.astype(np.float32), values=values)
        note = ""
    except (tenfold.TenfoldError, ArithmeticError, np.linalg.LinAlgError, MemoryError, TimeoutError) as reason:
        kept, note = {}, f"{type(reason).__name__}: {reason}"
    if note == "" and not all(np.isfinite(kept[key]).all() for key in ("held_out", "refit", "folds")):
        kept, note = {}, "outputs are not finite"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part.npz")
    np.savez(part, seconds=seconds, note=note, **kept)
    part.replace(path)
    return f"{split.name:20} {setting.name:50} {seconds:8.2f} s {note}"


def _job(table: Path, store: Path, stage: int) -> list[str]:
    warnings.simplefilter("ignore")
    split = cut(table)
    (store / split.name).mkdir(parents=True, exist_ok=True)
    facts = {key: value for key, value in vars(split.shape).items() if key != "numbers"}
    np.savez(store / split.name / "_truth.npz", y=split.y, fold=split.fold, unseen=split.unseen, columns=split.frame[0].width, **facts)
    bench, said = Bench(split), []
    with tenfold.threads(1):
        for setting in settings_for(split.shape):
            if setting.stage > stage or file_of(store, split.name, setting).exists():
                continue
            said.append(measure_one(store, bench, setting))
            print(said[-1], flush=True)
    return said


def measure(tables: Path, store: Path, processes: int = 2, only: list[str] | None = None, stages: int = 3) -> None:
    """All of it, or what is left of it; the first settings of all tables first, small tables first."""
    wanted = [table.name for table in tables_in(tables, only, LEFT_OUT)]  # the smallest first
    paths = [tables / (name + ENDING) for name in wanted]
    with ProcessPoolExecutor(processes) as pool:
        waiting = [pool.submit(_job, path, store, stage) for stage in range(1, stages + 1) for path in paths]
        for one in as_completed(waiting):
            if (reason := one.exception()) is not None:
                print("failed:", reason, flush=True)
