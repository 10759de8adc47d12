"""The board: the places of a race as plain values, the race as it went, and the names of what is on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.evaluate.validate.result import corrected_error
from tenfold.selection.choice.choice import Mix, Place
from tenfold.selection.race.race import Race
from tenfold.table.task import Task

DROPPED, PASSED_OVER = "dropped", "passed over"  # behind on the way; a variant of a family that does not lead in the end


def name_of(mix: Mix, race: Race) -> str:
    """A model in words: of an ensemble how many."""
    return f"ensemble of {len(mix.weights)}" if mix.single is None else race.settings[mix.single].label


def guess_label(task: Task, metric: str = "", weight: Array | None = None) -> str:
    """The guess in words; by the weights of rows where they have some, as it is fitted."""
    if task.kind == "number":
        mean = np.average(task.y, weights=weight)
        return f"always guessing {mean:,.0f}" if 1e3 <= abs(mean) < 1e12 else f"always guessing {mean:.4g}"
    if metric in ("roc_auc", "average_precision"):
        return "guessing"
    if metric == "accuracy":
        return f"always predicting {task.classes[np.bincount(task.codes, weight).argmax()]}"
    return "guessing the class frequencies"


def place_facts(place: Place, race: Race, guesses: dict[str, float]) -> dict[str, Any]:
    """A place of the board. guesses: what the guess scores, by each judge."""
    setting, folds, judge = race.settings[place.setting], race.complete_folds, race.judges[0]
    family, ensemble = setting.family, place.mix.single is None
    number = race.families.index(family)
    fits = sum(1 for one, _ in race.done if one == number)
    held, rows = race.held_out(), np.flatnonzero(np.isin(race.fold, folds))
    known = bool(np.isfinite(place.score))
    gone = not known and number in race.gone and family.title not in race.failures
    by_fold = best_scores(race, number) if gone else race.scores[judge.name][place.setting]
    scores = {judge.name: float(np.nanmean(by_fold)) if gone else place.score}
    if known and family.is_guess:
        scores |= guesses
    elif known:
        outputs = held.decided(place.mix.outputs(held, rows), rows)
        scores |= {judge.name: held.score(outputs, rows, judge) for judge in race.judges[1:]}
    seconds = [race.seconds[race.families.index(race.settings[c].family)] for c in place.mix.weights]
    return dict(
        model=name_of(place.mix, race) if known else family.title,
        family="ensemble" if ensemble else family.title,
        score=scores.pop(judge.name),
        error=corrected_error(by_fold[folds], race.K),
        against=place.against if not gone else PASSED_OVER if np.isfinite(by_fold[folds]).all() and number not in race.dropped else DROPPED,
        rank=family.rank if not ensemble else max(one.rank for one in race.families) + 1,
        seconds=float(sum(seconds) / max(fits, 1)),
        reason=race.failures.get(family.title) if not known else None,
        others=scores,
        folds=int(np.isfinite(by_fold).sum()),
    )


def best_scores(race: Race, number: int) -> Array:
    """The scores of a family's best setting by fold, NaN where it did not run."""
    judge = race.judges[0]
    scores = race.scores[judge.name][race.places[number]]
    mean = [np.nanmean(judge.sign * row) if np.isfinite(row).any() else -np.inf for row in scores]
    return np.asarray(scores[int(np.argmax(mean))])


def trace(race: Race) -> list[dict[str, Any]]:
    """The race as it went: of each family the score of its best setting by fold, and the fold after which it was dropped."""
    gone = race.gone
    return [
        dict(family=family.title, scores=best_scores(race, number).tolist(), dropped=gone.get(number))
        for number, family in enumerate(race.families)
    ]
