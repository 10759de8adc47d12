"""python -m bench.honesty: do 95 % ranges hold the truth in 95 % of tables? In worlds whose law is known (`bench.worlds`).

A procedure is a function of a table that returns `Claim`s: a score that it estimates with a range, and the truth, the score of the
model that it hands over on 50,000 new rows. Told for each stratum (rows x kind of target): the share of ranges that hold the truth,
the bias (estimate less truth, in per cent of the truth; 1 − R² for R²), and the median half width over the ideal one, 1.96 times the
standard deviation of the error of the estimate in that world. `--fit` is the same on other worlds: by it the constants of
`tenfold.evaluate.validate.ranges.widening` were chosen.

    python -m bench.honesty --tables 100 --rows 80,200,600,2000 --json honesty.json
    python -m bench.honesty --procedures compare --tables 200
    python -m bench.honesty --procedures regret --tables 20 --rows 80,200,600 --json regret.json          # `bench.regret`
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit
from threadpoolctl import threadpool_limits

import tenfold
from tenfold.base.sklearn_api import fresh
from tenfold.evaluate import compare, nested_cross_validate
from tenfold.evaluate.validate.comparison import corrected_t
from tenfold.score.record import judged_output
from tenfold.score.registry import find_score

from . import regret
from .worlds import FITTED, FOUR, REGRESSION, REPORTED, Drawn, table

KINDS = (REGRESSION, "two classes", FOUR, "5 % positives", "few errors")
SAVE_EVERY = 20
VIEW_NOISE = 0.5  # of the worse of two views of the columns that are compared


@dataclass(frozen=True)
class Claim:
    """What a procedure says of the score of a model, and what is true. `before` is the range from fold scores."""

    learner: str
    score: str
    estimate: float
    low: float
    high: float
    truth: float
    before: tuple[float, float, float] | None = None  # estimate, low, high of fold scores with the corrected t
    p_values: tuple[float, float] | None = None  # of a comparison: from rows, and from folds
    signal: bool | None = None  # of a selection: whether it claims one


Procedure = Callable[[Drawn], list[Claim]]


def learners(kind: str) -> dict[str, tuple[Any, tuple[str, ...]]]:
    """Cheap learners, and the scores they are judged by; a tree of few rows gives a probability of 0, so no log loss."""
    if kind == REGRESSION:
        scores = ("rmse", "mae", "r2")
        return {"ridge": (tenfold.Ridge(), scores), "tree": (tenfold.DecisionTreeRegressor(min_samples_leaf=5, random_state=0), scores)}
    area = () if kind == FOUR else ("roc_auc",)
    tree = tenfold.DecisionTreeClassifier(max_leaf_nodes=8, min_samples_leaf=5, random_state=0)
    return {
        "logistic": (tenfold.LogisticRegression(), ("log_loss", "brier", "accuracy", *area)),
        "tree": (tree, ("brier", "accuracy", *area)),
    }


def truth_of(model: Any, score: str, drawn: Drawn, X: Any = None) -> float:
    """The score of a fitted learner on the new rows, or on other columns of them."""
    judge, output = find_score(score, model.role), model._outputs(np.ascontiguousarray(drawn.new_X if X is None else X)).astype(np.float64)
    given = drawn.new_y[:, None] if model.role == "regressor" else drawn.new_y
    return judge.of(given, judged_output(judge, output, getattr(model, "classes_", None)), drawn.new_w)


# --- procedures -------------------------------------------------------------------------------------------------------


def cross_validated(drawn: Drawn) -> list[Claim]:
    """Ten folds of a learner with its defaults."""
    claims = []
    for name, (learner, scores) in learners(drawn.world.kind).items():
        model = fresh(learner).fit(drawn.X, drawn.y)
        held: Any = tenfold.cross_validate(learner, drawn.X, drawn.y).held_out
        for score in scores:
            judge = find_score(score, learner.role)
            found = held.estimate(judge)
            parts = [(held.truth[rows], judged_output(judge, out, held.classes), None) for rows, out in held.parts]
            truth = truth_of(model, score, drawn)
            claims.append(Claim(name, score, found.estimate, found.low, found.high, truth, _by_folds(judge, parts)))
    return claims


def _by_folds(judge: Any, parts: Any) -> tuple[float, float, float] | None:
    """Mean of fold scores with its corrected t range."""
    try:
        scores = np.array([judge.of(*part) for part in parts])
    except tenfold.TenfoldError:  # a fold without a positive has no AUC
        return None
    error = np.sqrt((1 / len(scores) + 1 / (len(scores) - 1)) * scores.var(ddof=1))
    half_width = float(stdtrit(len(scores) - 1, 0.975) * error)
    return float(scores.mean()), float(scores.mean()) - half_width, float(scores.mean()) + half_width


def nested(drawn: Drawn) -> list[Claim]:
    """The strength of the penalty chosen by cross-validation, and judged by a nested one."""
    if drawn.world.kind == REGRESSION:
        learner, grid, scores = tenfold.Ridge(), {"alpha": np.logspace(-1, 4, 6).tolist()}, ("rmse", "mae", "r2")
    else:
        learner, grid, scores = tenfold.LogisticRegression(), {"C": [0.01, 0.1, 1.0]}, ("log_loss", "brier", "accuracy")
    folds = 10 if len(drawn.y) <= 200 or drawn.world.kind == REGRESSION else 5
    result = nested_cross_validate(learner, drawn.X, drawn.y, grid, folds=folds, score=scores[0])
    ((name, values),) = grid.items()
    path = tenfold.validation_path(learner, drawn.X, drawn.y, name, values, folds=folds, score=scores[0])
    model = fresh(learner).set_params(**{name: path.best}).fit(drawn.X, drawn.y)
    claims = []
    for score in scores:
        judge = find_score(score, learner.role)
        found = result.held_out.estimate(judge)
        truth = truth_of(model, score, drawn)
        claims.append(Claim("chosen", score, found.estimate, found.low, found.high, truth))
    return claims


def compared(drawn: Drawn) -> list[Claim]:
    """Two views of the columns: equally noisy ones, which no learner can tell apart, and one of them as it is."""
    rng, claims = np.random.default_rng(len(drawn.y)), []
    name, (learner, scores) = next(iter(learners(drawn.world.kind).items()))
    noisy = [[X + VIEW_NOISE * rng.normal(size=X.shape) for _ in range(2)] for X in (drawn.X, drawn.new_X)]
    pairs = {"no difference": tuple(zip(*noisy, strict=True)), "a better view": ((drawn.X, drawn.new_X), (noisy[0][1], noisy[1][1]))}
    for pair, views in pairs.items():
        score = scores[0]
        judge = find_score(score, learner.role)
        results = [tenfold.cross_validate(learner, X, drawn.y, score=score) for X, _ in views]
        truths = [truth_of(fresh(learner).fit(X, drawn.y), score, drawn, new) for X, new in views]
        found = compare(*results)
        half_width = float(stdtrit(found.degrees, 0.975)) * found.standard_error
        of_folds = corrected_t(judge.sign * (results[0].scores - results[1].scores), 1 / results[0].scores.shape[1])
        claims.append(
            Claim(f"{name}, {pair}", score, found.difference, found.difference - half_width, found.difference + half_width,
                  judge.sign * (truths[0] - truths[1]), None, (found.p_value, of_folds[3]))
        )  # fmt: skip
    return claims


def selected(drawn: Drawn) -> list[Claim]:
    """`tenfold.select`, everything it does, at its quick effort; no claim of a table that it refuses, as one with two rows of a class."""
    numbers = drawn.world.kind == REGRESSION
    try:
        found = tenfold.select(regret.frame_of(drawn.X), drawn.y, task="number" if numbers else "classes", effort="quick")
    except tenfold.BadInput:
        return []
    new = regret.frame_of(drawn.new_X)
    output = found.predict(new)[:, None] if numbers else np.log(found.predict_proba(new))
    given = drawn.new_y[:, None] if numbers else drawn.new_y
    claims = []
    for one in (found.estimate, *found.others.values()):
        if one is not None:
            truth = find_score(one.metric, "regressor" if numbers else "classifier").of(given, output, drawn.new_w)
            claims.append(Claim("select", one.metric, one.value, one.low, one.high, truth, signal=found.signal))
    return claims


def regretted(drawn: Drawn) -> list[Claim]:
    """What is taken by `select`: its error beside the least error of all settings of the race in hindsight, as the truth; nothing of a
    table that it refuses."""
    try:
        found = regret.in_hindsight(drawn)
    except tenfold.BadInput:
        return []
    score = "rmse" if drawn.world.kind == REGRESSION else "log_loss"
    return [Claim(name, score, found[name], np.nan, np.nan, found["best"]) for name in regret.TAKEN]


PROCEDURES: dict[str, Procedure] = {
    "cross_validate": cross_validated,
    "nested_cross_validate": nested,
    "compare": compared,
    "select": selected,
    "regret": regretted,
}


# --- runs -------------------------------------------------------------------------------------------------------------

Task = tuple[str, str, int, int]  # procedure, world, rows, seed
Claims = dict[str, list[dict[str, Any]]]  # by task


def run_one(task: Task) -> tuple[Task, list[dict[str, Any]]]:
    """The claims of a procedure on one table."""
    procedure, world, rows, seed = task
    found = next(one for one in (*REPORTED, *FITTED) if one.name == world)
    with threadpool_limits(1), tenfold.threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return task, [asdict(claim) for claim in PROCEDURES[procedure](table(found, rows, seed))]


def run(tasks: list[Task], where: Path | None = None, processes: int = 2) -> Claims:
    """All claims by task; what the file holds is not run again."""
    done: Claims = json.loads(where.read_text()) if where and where.exists() else {}
    rest = [task for task in tasks if key_of(task) not in done]
    with get_context("spawn").Pool(processes) as pool:
        for k, (task, claims) in enumerate(pool.imap_unordered(run_one, rest)):
            done[key_of(task)] = claims
            if where and (k % SAVE_EVERY == 0 or k == len(rest) - 1):
                new = where.with_suffix(".new")  # a run that is killed leaves a whole file
                new.write_text(json.dumps(done))
                new.replace(where)
    return {key_of(task): done[key_of(task)] for task in tasks}


def key_of(task: Task) -> str:
    return "|".join(map(str, task))


# --- tables -----------------------------------------------------------------------------------------------------------


def cells_of(claims: Claims) -> dict[tuple[str, str, int, str, str], list[dict[str, Any]]]:
    """Claims by procedure, world, rows, learner and score; an R² as 1 − R², whose errors are in proportion to it."""
    cells = defaultdict(list)
    for key, rows in claims.items():
        procedure, world, n, _ = key.split("|")
        for one in rows:
            cells[procedure, world, int(n), one["learner"], one["score"]].append(one)
    return cells


def errors_of(cell: list[dict[str, Any]], of_folds: bool = False) -> Any:
    """(claims, 3): covered, relative error, relative half width."""
    found = []
    for one in cell:
        said = one["before"] if of_folds else (one["estimate"], one["low"], one["high"])
        if said is None:
            continue
        estimate, low, high, truth = *said, one["truth"]
        size = 1 - truth if one["score"] == "r2" else abs(truth)
        error = (truth - estimate if one["score"] == "r2" else estimate - truth) / size
        found.append((low <= truth <= high, error, (high - low) / 2 / size))
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def summary(claims: Claims) -> Iterator[tuple[str, int, str, int, float, float, float, float, float]]:
    """Of each procedure and stratum: claims, covered, bias, width over ideal; and covered and bias of fold scores."""
    kinds = {world.name: world.kind for world in (*REPORTED, *FITTED)}
    strata = defaultdict(list)
    for (procedure, world, n, _, _), cell in cells_of(claims).items():
        if procedure not in ("compare", "regret"):
            strata[procedure, n, kinds[world]].append(cell)
    for (procedure, n, kind), cells in sorted(strata.items(), key=lambda one: (one[0][0], one[0][1], KINDS.index(one[0][2]))):
        rows = [errors_of(cell) for cell in cells]
        before = [one for cell in cells if len(one := errors_of(cell, True))]
        together = np.concatenate(rows)
        ideal = [(one[:, 2], 1.96 * one[:, 1].std(ddof=1)) for one in rows if len(one) > 2]
        wide = np.median(np.concatenate([width / best for width, best in ideal if best > 0] or [[np.nan]]))
        yield (
            procedure, n, kind, len(together), together[:, 0].mean(), float(np.mean([one[:, 1].mean() for one in rows])), float(wide),
            *((np.concatenate(before)[:, 0].mean(), float(np.mean([one[:, 1].mean() for one in before]))) if before else (np.nan, np.nan)),
        )  # fmt: skip


def comparisons(claims: Claims) -> Iterator[tuple[str, int, int, float, float, float]]:
    """Of each pair and number of rows: claims, covered differences, share called different by rows and by folds."""
    strata = defaultdict(list)
    for (procedure, world, n, pair, _), cell in cells_of(claims).items():
        signal = next(one.signal for one in (*REPORTED, *FITTED) if one.name == world)
        what = pair.partition(", ")[2]
        if procedure == "compare" and (signal or what == "no difference"):
            strata[what, n] += cell
    for (what, n), cell in sorted(strata.items(), reverse=True):
        p = np.array([one["p_values"] for one in cell])
        covered = float(np.mean([one["low"] <= one["truth"] <= one["high"] for one in cell]))
        yield what, n, len(cell), covered, float((p[:, 0] < 0.05).mean()), float((p[:, 1] < 0.05).mean())


def signals(claims: Claims) -> Iterator[tuple[str, int, int, float]]:
    """Of worlds with a signal and of pure noise, by rows: tables, and the share in which a selection claims one."""
    strata = defaultdict(list)
    for key, rows in claims.items():
        procedure, name, n, _ = key.split("|")
        if procedure == "select" and rows:
            there = next(one.signal for one in (*REPORTED, *FITTED) if one.name == name)
            strata["a signal" if there else "noise", int(n)].append(bool(rows[0]["signal"]))
    for (what, n), found in sorted(strata.items()):
        yield what, n, len(found), float(np.mean(found))


def show(claims: Claims) -> str:
    """Markdown."""
    head = ("procedure", "rows", "target", "ranges", "covered", "bias", "width / ideal", "folds: covered", "folds: bias")
    lines = ["| " + " | ".join(head) + " |", "|---|---:|---|---:|---:|---:|---:|---:|---:|"]
    for procedure, n, kind, count, covered, bias, wide, covered_before, bias_before in summary(claims):
        old = " | " if np.isnan(covered_before) else f"{covered_before:.1%} | {bias_before:+.1%}"
        lines.append(f"| {procedure} | {n} | {kind} | {count} | {covered:.1%} | {bias:+.1%} | {wide:.2f} | {old} |")
    found = list(comparisons(claims))
    if found:
        lines += ["", "| compare | rows | pairs | covered | called different | the same by folds |", "|---|---:|---:|---:|---:|---:|"]
        lines += [f"| {what} | {n} | {count} | {inside:.1%} | {rows:.1%} | {folds:.1%} |" for what, n, count, inside, rows, folds in found]
    lines += regret.shown(claims)
    if claimed := list(signals(claims)):
        lines += ["", "| tables with | rows | tables | a signal is claimed |", "|---|---:|---:|---:|"]
        lines += [f"| {what} | {n} | {count} | {share:.1%} |" for what, n, count, share in claimed]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=100, help="of each world and number of rows")
    parser.add_argument("--rows", default="80,200,600,2000")
    parser.add_argument("--procedures", default="cross_validate,nested_cross_validate,compare")
    parser.add_argument("--only", help="worlds whose name holds this")
    parser.add_argument("--fit", action="store_true", help="report on the worlds by which the constants were chosen; nothing is fitted")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    worlds = [world for world in (FITTED if asked.fit else REPORTED) if asked.only is None or asked.only in world.name]
    tasks = [
        (procedure, world.name, int(n), seed)
        for seed in range(asked.tables)
        for n in asked.rows.split(",")
        for world in worlds
        for procedure in asked.procedures.split(",")
    ]
    print(show(run(tasks, asked.json, asked.processes)))


if __name__ == "__main__":
    main()
