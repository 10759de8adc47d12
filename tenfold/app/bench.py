"""`tenfold bench`: whether `select` is as accurate and as fast here as where the stored results were made.

Tables whose law is known, and the one that is included. Each is chosen a model for with effort quick and seed 0, and what is saved is
judged on new rows: 20,000 of the law, or the rows that were kept apart. The stored results, `data/bench.json`, are what
`tenfold bench --json` has printed elsewhere.

    friedman1   y = 10 sin(π x0 x1) + 20 (x2 − 1/2)² + 10 x3 + 5 x4 + N(0, 1), ten uniform columns (Friedman 1991)
    waveform    three classes, each a random mean of two of three triangular waves, and noise (Breiman et al. 1984)
    ringnorm    two Gaussians in 20 columns, one within the other (Breiman 1996)
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import resources
from typing import Annotated, Any

import numpy as np
import typer

import tenfold
from tenfold.app.options import JsonResult
from tenfold.app.words import clean, figure, metric_name
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.threads import thread_budget
from tenfold.table.reading import pl

STORED = "bench.json"
NEW_ROWS = 20_000
WORSE = 1.02  # an error that is more than so many times the stored one
SAME = 1e-6  # what other processors make of the last bits
Facts = dict[str, Any]
Law = Callable[[np.random.Generator, int], tuple[Array, Array]]


# --- the tables -------------------------------------------------------------------------------------------------------


def friedman1(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    X = rng.uniform(size=(n, 10))
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, signal + rng.standard_normal(n)


def waveform(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    place = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(place - np.array([[11], [15], [7]])), 0)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    y, u = rng.integers(0, 3, n), rng.uniform(size=(n, 1))
    X = u * waves[pairs[y, 0]] + (1 - u) * waves[pairs[y, 1]] + rng.standard_normal((n, 21))
    return X, np.array(["first", "second", "third"])[y]


def ringnorm(rng: np.random.Generator, n: int) -> tuple[Array, Array]:
    inner = rng.uniform(size=n) < 0.5
    X = rng.standard_normal((n, 20))
    X = np.where(inner[:, None], X + 2 / np.sqrt(20), 2 * X)
    return X, np.where(inner, "inner", "outer")


LAWS: dict[str, tuple[Law, int]] = {"friedman1": (friedman1, 400), "waveform": (waveform, 300), "ringnorm": (ringnorm, 400)}


def tables(name: str) -> tuple[pl.DataFrame, pl.DataFrame, str]:
    """Rows to learn from, new rows, and the column to predict."""
    if name not in LAWS:
        whole, target = pl.read_csv(resources.files("tenfold").joinpath("data", f"{name}.csv").read_bytes()), "species"
        order = np.random.default_rng(0).permutation(whole.height)
        cut = round(0.7 * whole.height)
        return whole[np.sort(order[:cut])], whole[np.sort(order[cut:])], target
    law, rows = LAWS[name]
    drawn = [law(np.random.default_rng([0, part]), n) for part, n in enumerate((rows, NEW_ROWS))]
    train, new = (pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]).with_columns(pl.Series("y", y)) for X, y in drawn)
    return train, new, "y"


NAMES = ("penguins", *LAWS)


# --- the command ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """What came of one table."""

    name: str
    rows: int
    metric: str
    error: float  # on new rows
    said: float  # the estimate, with its range
    low: float
    high: float
    seconds: float
    model: str


def bench_command(
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME", help=f"one of {', '.join(NAMES)}; may be given again")
    ] = None,
    as_json: JsonResult = False,
) -> int:
    """Choose models for tables whose truth is known, and hold error and time against stored results.

    Ends with 0 where no error is worse than stored by more than 2 %, else with 1.

    Example:  tenfold bench
    """
    for name in only or ():
        if name not in NAMES:
            raise BadParameter(f"--only {name}: there is no such table, there are {', '.join(NAMES)}")
    stored = stored_results()
    if not as_json:
        print(f"{'table':<12}{'rows':>6}  {'score':<10}{'here':>9}{'stored':>9}   {'said of it, 95% range':<28}{'time':>8}{'stored':>9}")
    found = []
    for name in only or NAMES:
        found.append(result_of(name))
        if not as_json:
            print(clean(_line(found[-1], stored["tables"].get(name))), flush=True)
    facts = dict(tenfold=tenfold.__version__, python=platform.python_version(), cores=thread_budget(), tables={})
    facts["tables"] = {one.name: {key: value for key, value in asdict(one).items() if key != "name"} for one in found}
    if as_json:
        print(json.dumps(facts))
    else:
        print(clean(_verdict(found, stored)))
    return 1 if _worse(found, stored) else 0


def result_of(name: str) -> Result:
    """Choose a model for a table, and judge it on new rows."""
    train, new, target = tables(name)
    began = time.perf_counter()
    run = tenfold.select(train, target, effort="quick", seed=0)
    seconds, said = time.perf_counter() - began, run.estimate
    assert said is not None  # no clock has cut it
    truth = new[target].to_numpy()
    if run.model.role == "classifier":
        place = np.searchsorted(run.model.classes_, truth.astype(str))
        error = float(-np.log(run.predict_proba(new)[np.arange(len(truth)), place]).mean())
    else:
        error = float(np.sqrt(np.mean((run.predict(new) - truth) ** 2)))
    return Result(name, train.height, said.metric, error, said.value, said.low, said.high, seconds, run.chosen)


def stored_results() -> Facts:
    """What `tenfold bench --json` has printed where the version was made."""
    found: Facts = json.loads(resources.files("tenfold").joinpath("data", STORED).read_text(encoding="utf-8"))
    return found


def _line(one: Result, stored: Facts | None) -> str:
    error, seconds = ("-", "-") if stored is None else (figure(stored["error"], one.metric), f"{stored['seconds']:.1f} s")
    score = [figure(value, one.metric) for value in (one.error, one.said, one.low, one.high)]
    said, took = f"{score[1]} ({score[2]} to {score[3]})", f"{one.seconds:.1f} s"
    line = f"{one.name:<12}{one.rows:>6}  {metric_name(one.metric):<10}{score[0]:>9}{error:>9}   {said:<28}{took:>8}{seconds:>9}"
    held = one.low <= one.error <= one.high or one.name not in LAWS  # of few rows kept apart the error has a range too
    return line if held else f"{line}   outside of its range"


def _worse(found: list[Result], stored: Facts) -> list[str]:
    return [one.name for one in found if one.name in stored["tables"] and one.error > WORSE * stored["tables"][one.name]["error"]]


def _verdict(found: list[Result], stored: Facts) -> str:
    """How these results stand beside the stored ones."""
    known = [(one, stored["tables"][one.name]) for one in found if one.name in stored["tables"]]
    times = sum(one["seconds"] for _, one in known) / max(sum(one.seconds for one, _ in known), 1e-9)
    pace = f"{times:.1f} times as fast" if times >= 1 else f"{1 / times:.1f} times as slow"
    whose = f"those of tenfold {stored['tenfold']} on {stored['cores']} cores"
    if worse := _worse(found, stored):
        return f"WORSE    {', '.join(worse)}: the error is more than {100 * (WORSE - 1):.0f}% above {whose}; {pace}"
    same = all(abs(one.error - other["error"]) <= SAME * other["error"] for one, other in known)
    return f"{'SAME' if same else 'AS GOOD':<8} {'the errors are' if same else 'as good as'} {whose}; {pace}"
