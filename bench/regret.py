"""Regret of `tenfold.select`: the error of what it saves against that of the best single setting of its race in hindsight, both by the law.

    regret = error(saved) / min over settings c of error(c refitted to all rows) − 1

Errors (log loss, or RMSE) are those on 50,000 new rows of a world whose law is known (`bench.worlds`). Below zero where an ensemble is
better than every setting of its own. Beside it the regret of the best single model (`prefer="fast"`) and of the simplest that is as good.

    python -m bench.honesty --procedures regret --tables 20 --rows 80,200,600 --json regret.json
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from tenfold.core.errors import TenfoldError
from tenfold.score.registry import find_score
from tenfold.selection.choice.choice import Mix
from tenfold.selection.choice.floor import floored
from tenfold.selection.job import Job
from tenfold.selection.model.refit import refit
from tenfold.selection.race.fits import ERRORS
from tenfold.selection.settings import Settings

from .worlds import FITTED, REGRESSION, REPORTED, Drawn

EFFORT = "quick"
TAKEN = ("saved", "fast", "simple")


def frame_of(X: Any) -> pl.DataFrame:
    return pl.DataFrame({f"x{j}": np.asarray(X)[:, j] for j in range(X.shape[1])})


def in_hindsight(drawn: Drawn) -> dict[str, Any]:
    """By what is taken, its error on new rows; `best`: the least of all settings, and its name; `settings`: how many were fitted."""
    numbers = drawn.world.kind == REGRESSION
    found = Job(lambda event, **facts: None, False, Settings(task="number" if numbers else "classes", effort=EFFORT)).run(
        frame_of(drawn.X), drawn.y
    )
    race, task, coder = found.outcome.race, found.outcome.task, found.model.coder
    new = frame_of(drawn.new_X)
    judge = find_score("rmse" if numbers else "log_loss", "regressor" if numbers else "classifier")
    given = drawn.new_y[:, None] if numbers else drawn.new_y

    def judged(model: Any, rows: Any, floor: float = 0.0) -> float:
        answers = model.predict(rows)[:, None] if numbers else np.log(floored(model.predict_proba(rows), floor))
        return float(judge.of(given, answers, drawn.new_w))

    def error(mix: Mix) -> float:
        """Of the same model as would be saved."""
        model = refit(race, task, coder, mix)
        return judged(model, coder.frame(new) if model.categorical else coder.transform(new), race.fits.floor)

    known: dict[str, float] = {}
    for c, setting in enumerate(race.settings):
        try:
            known[setting.label] = error(Mix({c: 1.0}))
        except (*ERRORS, TenfoldError):  # as in the race: it is no candidate
            continue
    guess = Mix({found.outcome.race.guess: 1.0})
    others = {name: error(guess if found.outcome.is_guess else found.outcome.choice.taken(name)) for name in TAKEN[1:]}
    best = min(known, key=lambda label: known[label])
    return dict(saved=judged(found.model, new), **others, best=known[best], which=best, settings=len(known))


def regrets(claims: dict[str, list[dict[str, Any]]]) -> Iterator[tuple[str, int, str, int, float, float, float, float]]:
    """Of what is taken, rows and kind: tables, and of the regret the median, the mean, the 95th per cent, and the share of at most 1 %."""
    kinds = {world.name: world.kind for world in (*REPORTED, *FITTED)}
    strata = defaultdict(list)
    for key, rows in claims.items():
        procedure, world, n, _ = key.split("|")
        for one in rows if procedure == "regret" else ():
            regret = one["estimate"] / one["truth"] - 1
            for kind in (kinds[world], "all"):
                strata[one["learner"], int(n), kind].append(regret)
    for (taken, n, kind), found in sorted(strata.items(), key=lambda one: (TAKEN.index(one[0][0]), one[0][1], one[0][2])):
        r = np.array(found)
        yield taken, n, kind, len(r), float(np.median(r)), float(r.mean()), float(np.quantile(r, 0.95)), float((r <= 0.01).mean())


def shown(claims: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Markdown, nothing where no regret was measured."""
    head = "| regret of | rows | target | tables | median | mean | 95th per cent | at most 1 % |"
    lines = []
    for name, n, kind, count, *rest in regrets(claims):
        lines.append(f"| {name} | {n} | {kind} | {count} | {' | '.join(f'{one:.1%}' for one in rest)} |")
    return ["", head, "|---|---:|---|---:|---:|---:|---:|---:|", *lines] if lines else []
