"""Cross-validation of rows that are read block by block: files, streams, Dask collections. Nothing is kept of them.

The fold of a row follows from a hash of what it holds, so it is known wherever and whenever the row is read. A one-pass
learner is summed up fold by fold in one reading; all others are driven in lockstep: what the models of all folds want to know
of a block is computed while the block is there. One more reading gives the scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import current_engine, each
from tenfold.core.errors import BadInput
from tenfold.core.learning import NoRows, drive, lockstep
from tenfold.core.monitor import pass_on_interrupt
from tenfold.core.random import generator, seed_of
from tenfold.core.stats import Keyed
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.folds import hash_folds
from tenfold.evaluate.split.splitters import HashKFold
from tenfold.evaluate.split.splitting import Splitting
from tenfold.evaluate.validate.held_out import MERGED, prepared, solved_path
from tenfold.evaluate.validate.merges import all_but_one
from tenfold.score.record import Score, judged_output

LOCKSTEP = "fitted in lockstep"
Key = tuple[int, int]  # repeat and fold


def folds_of_stream(model: Estimator, source: Source, judge: Score, splitting: Splitting) -> tuple[int, list[int]] | None:
    """The number of folds, and a seed for each repeat; None where rows must be in memory for what is asked."""
    splitter, groups = splitting.said, splitting.groups
    if not isinstance(splitter, HashKFold):
        whole = isinstance(splitter, (int, np.integer)) and not isinstance(splitter, bool) and splitter >= 2
        if not whole or splitting.stratify is True:
            return None
        splitter = HashKFold(int(splitter), random_state=splitting.random_state)
    keeps = model.kind in ("keeps rows", "sequential")
    by_number = splitting.kind != "k-fold" or (groups is not None and not isinstance(groups, str))
    if not source.rereadable or keeps or by_number or not judge.merges:
        return None
    splitting.check()
    rng = generator(splitter.random_state)
    return splitter.n_splits, [seed_of(rng) for _ in range(splitting.repeats)]


def stream_scores(model: Estimator, source: Source, judge: Score, folds: int, seeds: list[int]) -> tuple[Array, str]:
    """Scores (repeats, folds) on held-out rows, and how the models were made."""
    with single_blas:
        template = prepared(model, source)
        models, method = _merged(template, source, folds, seeds), MERGED
        if models is None:
            models, method = _lockstep(model, source, folds, seeds), LOCKSTEP
        sums = current_engine(source).run(
            partial(_sum_scores, models, judge, folds, seeds, source.target.classes), source
        )
    _check_folds(sums, folds, seeds)
    return np.array([[judge.finish(sums[r, k]) for k in range(folds)] for r in range(len(seeds))]), method


def stream_path_scores(
    model: Estimator, source: Source, judge: Score, folds: int, seeds: list[int], name: str, values: list[Any]
) -> Array | None:
    """Scores (values, repeats x folds) along the path of a one-pass learner, from one reading, or two where the moments of held-out
    rows do not give them; None for other learners and parameters.
    """
    with single_blas:
        template = prepared(model, source)
        statistics = _fold_statistics(template, source, folds, seeds) if name == model.path else None
        if statistics is None:
            return None
        tested, training = statistics
        solved = each(
            partial(solved_path, template, values, judge), [(one, tested[key]) for key, one in training.items()]
        )
        if all(scores is not None for _, scores in solved):
            return np.array([scores for _, scores in solved]).T
        models = {
            (*key, v): template._fitted_copy(fit, **{name: value})
            for key, (fits, _) in zip(training, solved, strict=True)
            for v, (value, fit) in enumerate(zip(values, fits, strict=True))
        }
        found = current_engine(source).run(
            partial(_sum_path_scores, models, judge, folds, seeds, source.target.classes), source
        )
    return np.array([[judge.finish(found[*key, v]) for key in training] for v in range(len(values))])


def _check_folds(found: Keyed, folds: int, seeds: list[int]) -> None:
    """Equal rows are in one fold: with few that differ a fold may have none."""
    if len(found) < folds * len(seeds):
        raise _fold_without_rows(folds)


def _fold_without_rows(folds: int) -> BadInput:
    return BadInput(
        f"one of {folds} folds has no row: there are too few rows that differ; ask for fewer folds, or read the table into memory"
    )


def parts_of(block: Block, folds: int, seeds: list[int]) -> Iterator[tuple[Key, Array]]:
    """The rows of a block in each fold of each repeat; only folds that have some."""
    for r, seed in enumerate(seeds):
        fold = hash_folds(block.X, folds, seed)
        for k in np.flatnonzero(np.bincount(fold, minlength=folds)).tolist():
            yield (r, k), np.flatnonzero(fold == k)


# --- models -------------------------------------------------------------------------------------------------


def _fold_statistics(template: Any, source: Source, folds: int, seeds: list[int]) -> tuple[Keyed, Keyed] | None:
    """Of each fold and of all others, from one reading; None where merged statistics are not exact enough."""
    if not isinstance(template, OnePass):
        return None
    stats = current_engine(source).run(partial(_sum_folds, template._summarize, folds, seeds), source)
    _check_folds(stats, folds, seeds)
    training = Keyed()
    for r in range(len(seeds)):
        for k, one in enumerate(all_but_one([stats[r, fold] for fold in range(folds)])):
            training[r, k] = one
    return (stats, training) if all(map(template._exact, training.values())) else None


def _merged(template: Estimator, source: Source, folds: int, seeds: list[int]) -> dict[Key, Any] | None:
    """Models of a one-pass learner, from one reading; None where merged statistics are not exact enough."""
    statistics = _fold_statistics(template, source, folds, seeds)
    if statistics is None:
        return None
    solved = each(lambda one: template._fitted_copy(template._solve(one)), list(statistics[1].values()))
    return dict(zip(statistics[1], solved, strict=True))


def _sum_folds(summarize: Any, folds: int, seeds: list[int], block: Block) -> Keyed:
    return Keyed({key: summarize(block.take(rows)) for key, rows in parts_of(block, folds, seeds)})


class TrainingRows(Source):
    """All rows but those of one fold."""

    def __init__(self, inner: Source, folds: int, seed: int, fold: int) -> None:
        self.inner, self.folds, self.seed, self.fold = inner, folds, seed, fold
        self.n_features, self.n_parts = inner.n_features, inner.n_parts
        self.target, self.facts, self.home = inner.target, inner.facts, inner.home

    def parts(self) -> Iterator[Any]:
        return self.inner.parts()

    def load(self, part: Any) -> Block:
        block = self.inner.load(part)
        return block.take(np.flatnonzero(hash_folds(block.X, self.folds, self.seed) != self.fold))


def _lockstep(model: Estimator, source: Source, folds: int, seeds: list[int]) -> dict[Key, Any]:
    """The learners of all folds, driven together: each reading of the source serves all that still want one."""
    keys = [(r, k) for r in range(len(seeds)) for k in range(folds)]
    learners = {key: prepared(model, source) for key in keys}
    sources = {(r, k): TrainingRows(source, folds, seeds[r], k) for r, k in keys}
    together = lockstep(
        {key: learners[key]._learn(sources[key]) for key in keys}, partial(training_parts, folds, seeds)
    )
    try:
        all_fitted = drive(together, source, current_engine(source), type(model).__name__)
    except NoRows:
        raise _fold_without_rows(folds) from None
    for key, fitted in all_fitted.items():
        vars(learners[key]).update(fitted)
        learners[key]._finish(sources[key])
    pass_on_interrupt()
    return learners


def training_parts(folds: int, seeds: list[int], block: Block) -> dict[Key, Block]:
    """The rows of a block that each model learns from."""
    found = {}
    for r, seed in enumerate(seeds):
        fold = hash_folds(block.X, folds, seed)
        for k in range(folds):
            rows = np.flatnonzero(fold != k)
            if len(rows):
                found[r, k] = block.take(rows)
    return found


# --- scores -------------------------------------------------------------------------------------------------


def _sum_scores(
    models: dict[Key, Any], judge: Score, folds: int, seeds: list[int], classes: Array | None, block: Block
) -> Keyed:
    found = Keyed()
    for key, rows in parts_of(block, folds, seeds):
        part = block.take(rows)
        output = models[key]._outputs(part.X).astype(np.float64, copy=False)
        found[key] = judge.of_block(part.y, judged_output(judge, output, classes), part.w)
    return found


def _sum_path_scores(
    models: dict[tuple[int, int, int], Any],
    judge: Score,
    folds: int,
    seeds: list[int],
    classes: Array | None,
    block: Block,
) -> Keyed:
    found = Keyed()
    for v in sorted({key[2] for key in models}):
        of_value = {key[:2]: model for key, model in models.items() if key[2] == v}
        for key, one in _sum_scores(of_value, judge, folds, seeds, classes, block).items():
            found[*key, v] = one
    return found
