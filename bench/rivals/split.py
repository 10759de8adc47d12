"""What every tool gets: the training rows of a table as a data frame, and what is kept apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench.tables import ENDING, NUMBERED_CLASSES

TARGET = "target"
TEST_SHARE = 0.3
FLOOR = 1e-6  # of a probability


@dataclass(frozen=True)
class Split:
    """Training rows with their target; test rows, and their truth, apart."""

    train: pd.DataFrame
    test: pd.DataFrame
    truth: Any  # classes as in the training rows, or numbers
    classes: Any | None  # sorted; None for numbers

    @property
    def metric(self) -> str:
        return "rmse" if self.classes is None else "log_loss"


def read(path: Path) -> tuple[pd.DataFrame, bool]:
    """The table as it is in the file, and whether its target is one of classes."""
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    for name in frame.columns:
        if isinstance(frame[name].dtype, pd.StringDtype):  # what newer versions of pandas make of texts, and not every tool takes
            frame[name] = frame[name].astype(object)
    target = frame[TARGET]
    numbers = pd.api.types.is_numeric_dtype(target)
    return frame, not numbers or target.nunique() == 2 or path.name.removesuffix(ENDING) in NUMBERED_CLASSES


def split(path: Path, seed: int) -> Split:
    """70 % to learn from, 30 % to judge by."""
    frame, is_classes = read(path)
    y = frame[TARGET]
    rng = np.random.default_rng([seed, *path.name.removesuffix(ENDING).encode()])
    classes = np.unique(y.to_numpy()) if is_classes else None
    groups = [np.arange(len(y))] if classes is None else [np.flatnonzero(y.to_numpy() == one) for one in classes]
    parts = [rng.permutation(rows)[: min(round(TEST_SHARE * len(rows)), len(rows) - 1)] for rows in groups]
    kept = np.zeros(len(y), dtype=bool)
    kept[np.concatenate(parts)] = True
    train, test = frame[~kept].reset_index(drop=True), frame[kept].reset_index(drop=True)
    return Split(train, test.drop(columns=TARGET), test[TARGET].to_numpy(), classes)


def losses(found: Split, answers: Any, classes: Any = None) -> Any:
    """Of each test row: -log of the probability of its class, or the squared error. `classes`: of the columns of the answers."""
    answers = np.asarray(answers, dtype=np.float64)
    if found.classes is None:
        return np.square(answers.reshape(-1) - found.truth)
    known = {str(one): k for k, one in enumerate(found.classes)}
    shares = np.full((len(found.truth), len(found.classes)), 0.0)
    for k, one in enumerate(classes):
        shares[:, known[str(one)]] = answers[:, k]
    shares = np.maximum(shares, FLOOR)
    shares /= shares.sum(axis=1, keepdims=True)
    return -np.log(shares[np.arange(len(shares)), np.searchsorted(found.classes, found.truth)])


def judged(found: Split, row_losses: Any) -> tuple[float, float]:
    """The test error, and its standard error from the rows."""
    mean, error = float(np.mean(row_losses)), float(np.std(row_losses, ddof=1) / np.sqrt(len(row_losses)))
    if found.classes is not None:
        return mean, error
    root = float(np.sqrt(mean))
    return root, error / (2 * root) if root > 0 else 0.0


def apart(found: Split) -> Any:
    """The test rows whose columns are not those of any training row."""
    known = pd.util.hash_pandas_object(found.train.drop(columns=TARGET), index=False)
    return ~np.isin(pd.util.hash_pandas_object(found.test, index=False), known)


def guess(found: Split) -> tuple[Any, Any]:
    """The class frequencies of the training rows, or their mean, for each test row; and the classes."""
    y = found.train[TARGET]
    if found.classes is None:
        return np.full(len(found.test), float(y.mean())), None
    share = np.array([(y == one).mean() for one in found.classes])
    return np.tile(share, (len(found.test), 1)), found.classes
