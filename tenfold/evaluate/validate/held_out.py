"""Models of the splits, and their outputs for the rows they have not seen: by merging, in closed form, or by
fitting again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.engine import Threads, current_engine, each
from tenfold.core.stats import Keyed
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.plan import SplitPlan
from tenfold.evaluate.validate.leave_out import leave_one_out_outputs
from tenfold.evaluate.validate.training_sets import sums_fit
from tenfold.gate.inputs import Pairs
from tenfold.score.record import Score
from tenfold.solve.few_rows import target_squares

# Below this share of Σ w y², a squared error computed from moments has lost digits: predict the rows instead.
SMALLEST_SHARE = 1e-6
MERGED, CLOSED, REFITTED = "merged statistics", "closed form", "refitted"


def held_out(model: Estimator, source: Arrays, one: SplitPlan) -> tuple[list[Array], str]:
    """The outputs for the rows of each of the round's parts by models that have not seen them, and how these
    were made.
    """
    with single_blas:
        if one.single:
            outputs = leave_one_out_outputs(fresh(model)._fit(source), source)
            if outputs is not None:
                return [outputs], CLOSED
        elif one.kind == "folds" and type(model)._folds_along is not Estimator._folds_along:
            full = fresh(model)._fit(source)
            folds = full._folds_along([full], source, one.parts)
            if folds is not None:
                return next(iter(folds)), CLOSED
        models, method = split_models(model, source, one)
        return test_outputs(models, source, one), method


def training_and_folds(model: Estimator, source: Arrays, one: SplitPlan) -> tuple[Array, list[Array], str]:
    """Outputs for all rows, of the fit to all rows and of each fold's model; and how the latter were made."""
    everything = np.arange(source.n_rows or 0)
    with single_blas:
        models, method = split_models(model, source, one)
        whole = outputs_of([fresh(model)._fit(source)], source, [everything])[0]
        everywhere = [outputs_of([fitted], source, [everything])[0] for fitted in models]
    return whole, everywhere, method


def path_outputs(
    model: Any, source: Arrays, one: SplitPlan, name: str, values: list[Any], judge: Score
) -> tuple[Array | None, Iterable[list[Array]]]:
    """For each value of a parameter the outputs of each split, to be asked for once; or scores (values, splits), where moments give
    them at once.
    """
    with single_blas:
        if one.single:
            fits = full_fits(model, source, name, values)
            along = fits[0]._left_out_along(list(fits), source)
            if along is not None:
                return None, ([output] for output in along)
            outputs = [leave_one_out_outputs(full, source) for full in fits]
            if all(output is not None for output in outputs):
                return None, [[output] for output in outputs if output is not None]
        elif one.kind == "folds" and name == model.path and type(model)._folds_along is not Estimator._folds_along:
            fits = full_fits(model, source, name, values)
            folds = fits[0]._folds_along(list(fits), source, one.parts)
            if folds is not None:
                return None, folds
        template = prepared(model, source)
        trained = training_statistics(template, source, one) if name == model.path else None
        if trained is None:
            on_path = name == model.path and not isinstance(model, OnePass)
            merged = merged_models(template, source, one, values) if on_path else None
            rows = [one.train_rows(k) for k in range(len(one))] if merged is None else []
            paths = merged or each(lambda train: fresh(model)._fit_path(source.select(train), name, values), rows, source)
            if on_path and merged is None and not one.single and not isinstance(source, Pairs):
                return None, outputs_along(paths, source, one)
        else:
            tested = trained[0] if one.kind == "folds" and not one.single else [None] * len(one)
            solve = partial(solved_path, template, values, judge)
            fits, scores = zip(*each(solve, list(zip(trained[1], tested, strict=True))), strict=True)
            if all(score is not None for score in scores):
                return np.array(scores).T, []
            paths = [
                [template._fitted_copy(fit, **{name: value}) for value, fit in zip(values, path, strict=True)] for path in fits
            ]
        return None, [test_outputs([path[v] for path in paths], source, one) for v in range(len(values))]


def outputs_along(paths: list[list[Any]], source: Arrays, one: SplitPlan) -> Iterator[list[Array]]:
    """For each value of a path the outputs of each split, of models that do together what they have in common."""
    tests = [one.test_rows(k) for k in range(len(one))]
    stacked = outputs_of(paths, source, tests, lambda path, X: np.stack(path[0]._outputs_along(path, X), axis=1))
    return ([np.ascontiguousarray(rows[:, v]) for rows in stacked] for v in range(len(paths[0])))


def full_fits(model: Estimator, source: Arrays, name: str, values: list[Any]) -> Sequence[Estimator]:
    """The fit to all rows for each value of a parameter, with its statistics."""
    if name != model.path or not isinstance(model, OnePass):
        return fresh(model)._fit_path(source, name, values)
    first = fresh(model).set_params(**{name: values[0]})._fit(source)
    if "stats_" not in vars(first):
        return first._fit_path(source, name, values)
    fits = first._solve_path(first.stats_, values)
    return [first._fitted_copy(dict(fit, stats_=first.stats_), **{name: v}) for v, fit in zip(values, fits, strict=True)]


def split_models(model: Estimator, source: Arrays, one: SplitPlan) -> tuple[list[Any], str]:
    """A fitted model for each split, and how they were made."""
    template = prepared(model, source)
    with single_blas:
        merged = merged_models(template, source, one, [])
        if merged is not None:
            return [models[0] for models in merged], MERGED
        rows = [one.train_rows(k) for k in range(len(one))]
        start = start_of(model, source) if one.kind != "reversed" and len(one) > 2 else None
        return each(lambda train: fresh(model)._fit(source.select(train), start), rows, source), REFITTED


def merged_models(template: Estimator, source: Arrays, one: SplitPlan, values: list[Any]) -> list[list[Any]] | None:
    """The models of each split from merged sums of its groups, one for each value of the path, or one; None where sums do not give them,
    or would take too much memory."""
    sums = template._from_sums(source) if one.merges else None
    if sums is None or not sums_fit(sums.size, len(one.groups)):
        return None
    keyed = source.by_key(list(enumerate(one.groups)))
    stats = current_engine().run(partial(_summarize_keyed, sums.summarize), keyed)
    found = each(lambda total: sums.solve(total, values), one.training([stats[k] for k in range(len(one.groups))]))
    return None if any(models is None for models in found) else found


def training_statistics(template: Any, source: Arrays, one: SplitPlan) -> tuple[list[Any], list[Any]] | None:
    """Statistics of each group of rows and of each training set; None where they would not be exact, or not
    pay.
    """
    if not isinstance(template, OnePass) or not one.merges:
        return None
    keyed = source.by_key(list(enumerate(one.groups)))
    stats = current_engine().run(partial(_summarize_keyed, template._summarize), keyed)
    by_group = [stats[k] for k in range(len(one.groups))]
    training = one.training(by_group)
    return (by_group, training) if all(map(template._exact, training)) else None


def _summarize_keyed(summarize: Any, block: Block) -> Keyed:
    return Keyed({block.key: summarize(block)})


def start_of(model: Estimator, source: Arrays) -> Any:
    """The solution for all rows, near which that of every training set lies, if the learner can start somewhere."""
    if type(model)._solution is Estimator._solution:
        return None
    return fresh(model)._fit(source)._solution()


def solved_path(template: Estimator, values: list[Any], judge: Score, statistics: Any) -> tuple[list[dict[str, Any]], Any]:
    """The fits of one training set along a path, and their scores on held-out rows where the moments of those give them.

    `statistics` are those of the training set and of the rows held out, or None.
    """
    training, tested = statistics
    fits = template._solve_path(training, values)
    return fits, None if tested is None else score_from_moments(template, tested, fits, judge)


def scores_from_moments(
    template: Estimator, held_out: list[Any], fits: list[list[dict[str, Any]]], judge: Score
) -> Array | None:
    """`score_from_moments` of every fold (values, folds); None where one of them has none."""
    scores = [score_from_moments(template, stats, path, judge) for stats, path in zip(held_out, fits, strict=True)]
    return None if any(score is None for score in scores) else np.array(scores).T


def score_from_moments(template: Estimator, stats: Any, fits: list[dict[str, Any]], judge: Score) -> Array | None:
    """Squared errors on held-out rows from those rows' own moments; None for other scores, and where digits
    would be lost.
    """
    found = None if judge.of_squares is None else template._held_out_squares(stats, fits)
    if found is None or judge.of_squares is None:
        return None
    squares, share = found
    spreads = target_squares(stats, template.n_features_in_)
    q = len(spreads)
    if squares.ndim > 1 or share.min() < SMALLEST_SHARE or (q > 1 and not judge.mean_of_rows):
        return None
    mse = squares / stats.weight / q
    spread = spreads[0] / stats.weight
    if judge.greater_is_better and spread == 0:  # a share of no spread
        return None
    return judge.of_squares(mse, spread)


def outputs_of(
    models: list[Any], source: Arrays, parts: list[Array], output: Callable[[Any, Any], Array] | None = None
) -> list[Array]:
    """The outputs of each model for its rows, or output(model, rows): one pass over all of them, on all threads."""
    outputs = output or (lambda model, X: model._outputs(X))
    ends = np.cumsum([len(part) for part in parts])
    size, table, first = source.size, list[Array](), threading.Lock()
    pieces = [
        ((k, ends[k] - len(part) + start), part[start : start + size])
        for k, part in enumerate(parts)
        for start in range(0, len(part), size)
    ]

    def put(block: Block) -> int:
        k, at = block.key
        rows = outputs(models[k], block.X)
        with first:
            if not table:  # only outputs know their number of columns
                table.append(np.empty((ends[-1], *rows.shape[1:])))
        table[0][at : at + len(rows)] = rows
        return len(rows)

    (source.home or Threads()).run(put, source.by_key(pieces))
    return np.split(table[0], ends[:-1])


def test_outputs(models: list[Any], source: Arrays, one: SplitPlan) -> list[Array]:
    """The outputs of each model for its test rows, arranged as the round's parts."""
    if isinstance(source, Pairs):
        pairs = [(one.test_rows(k), one.train_rows(k)) for k in range(len(one))]
        outputs = [models[k]._outputs(source.between(*pair)) for k, pair in enumerate(pairs)]
    else:
        outputs = outputs_of(models, source, [one.test_rows(k) for k in range(len(one))])
    if not one.single:
        return outputs
    return [np.concatenate(outputs)[np.argsort(one.order())]]


def prepared(model: Estimator, source: Source) -> Any:
    """An unfitted copy that knows the facts of the gate."""
    template = fresh(model)
    vars(template).update(source.facts)
    return template
