"""What was measured of one table, as columns: one for each value of each setting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

FLOOR = 1e-6  # of a probability: no loss is infinite


@dataclass(frozen=True)
class Column:
    """One value of one setting."""

    setting: str  # its file
    value: float
    seconds: float  # of the one fit that gives all values


@dataclass
class Measured:
    """Outputs (columns, rows, classes or 1) for rows of training, each by models that have not seen it, and for rows kept apart."""

    name: str
    y: np.ndarray
    unseen: np.ndarray
    fold: np.ndarray
    classes: int
    shape: dict[str, float]
    columns: list[Column]
    held_out: np.ndarray
    refit: np.ndarray
    folds: np.ndarray
    notes: dict[str, str]

    @classmethod
    def read(cls, folder: Path) -> Measured:
        truth = {key: value for key, value in np.load(folder / "_truth.npz").items()}
        columns, parts, notes = [], [], {}
        for path in sorted(folder.glob("[!_]*.npz")):
            if ".part." in path.name:
                continue
            kept = np.load(path)
            if str(kept["note"]):
                notes[path.stem] = str(kept["note"])
                continue
            columns += [Column(path.stem, float(value), float(kept["seconds"])) for value in kept["values"]]
            parts.append([kept[key].astype(np.float32) for key in ("held_out", "refit", "folds")])
        held_out, refit, folds = (np.concatenate([part[i] for part in parts]) for i in range(3))
        facts = {key: float(truth[key]) for key in ("rows", "width", "columns", "classes", "categories", "lowest", "skew")}
        rows = truth["y"], truth["unseen"], truth["fold"], int(truth["classes"])
        return cls(folder.name, *rows, facts, columns, held_out, refit, folds, notes)._sane()

    def _sane(self) -> Measured:
        """Probabilities above zero that add up to one; numbers not far beyond the targets."""
        for one in (self.held_out, self.refit, self.folds):
            if self.classes:
                np.clip(one, FLOOR, 1.0, out=one)
                one /= one.sum(axis=2, keepdims=True)
            else:
                reach = np.ptp(self.y)
                np.clip(one, self.y.min() - reach, self.y.max() + reach, out=one)
        return self

    def only(self, keep: np.ndarray) -> Measured:
        """Some of the columns."""
        index = np.flatnonzero(keep)
        parts = dict(held_out=self.held_out[index], refit=self.refit[index], folds=self.folds[index])
        return replace(self, columns=[self.columns[c] for c in index], **parts)

    def smoothed(self, share: float) -> Measured:
        """Probabilities with a share of the class frequencies: none is zero because no tree has seen the class there."""
        if not self.classes:
            return self
        frequency = np.bincount(self.y.astype(int), minlength=self.classes) / len(self.y)
        added = (share * frequency).astype(np.float32)
        return replace(self, **{key: (1 - share) * getattr(self, key) + added for key in ("held_out", "refit", "folds")})

    def row_losses(self, outputs: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """(..., rows): −log of the probability of the class, or the squared error."""
        if self.classes:
            return -np.log(np.maximum(outputs[..., np.arange(len(truth)), truth.astype(int)], FLOOR))
        return np.square(outputs[..., 0] - truth)

    def error(self, outputs: np.ndarray, truth: np.ndarray) -> np.ndarray:
        """Log loss, or the root of the mean squared error."""
        mean = self.row_losses(outputs, truth).mean(axis=-1)
        return mean if self.classes else np.sqrt(mean)

    @property
    def guess(self) -> float:
        """The error of the class frequencies, or of the mean, on the rows kept apart."""
        if self.classes:
            share = np.maximum(np.bincount(self.y.astype(int), minlength=self.classes), 0.5) / len(self.y)
            return float(self.error(np.tile(share / share.sum(), (len(self.unseen), 1)), self.unseen))
        return float(np.sqrt(np.mean((self.unseen - self.y.mean()) ** 2)))


def read_store(store: Path, least: int = 5) -> list[Measured]:
    """All tables of which some settings were measured."""
    folders = [folder for folder in sorted(store.iterdir()) if (folder / "_truth.npz").exists()]
    return [Measured.read(folder) for folder in folders if len(list(folder.glob("[!_]*.npz"))) >= least]
