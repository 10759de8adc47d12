"""What a race tells besides its choice, without another fit: all that was tried, a second opinion, and whether more rows would help."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.evaluate.validate.result import corrected_error
from tenfold.score.record import Score
from tenfold.selection.choice.choice import Mix
from tenfold.selection.choice.held_out import WIDER
from tenfold.selection.honest.audit import Audit, audit
from tenfold.selection.honest.estimate import estimated
from tenfold.selection.honest.growth import grown
from tenfold.selection.race.race import Race

Facts = dict[str, Any]


def tried(race: Race, judge: Score) -> list[Facts]:
    """Every setting: its mean score over the folds that it ran, the error of that, and seconds of a fit of its family; best first."""
    fits = np.bincount([number for number, _ in race.done], minlength=len(race.families))
    lines, left = [], race.gone
    for number, (family, where) in enumerate(zip(race.families, race.places, strict=True)):
        gone = left.get(number)
        state = "failed" if family.title in race.failures else "" if gone is None else f"dropped after fold {gone + 1}"
        for c in where:
            by_fold = race.scores[judge.name][c]
            by_fold = by_fold[np.isfinite(by_fold)]
            lines.append(
                dict(
                    label=race.settings[c].label,
                    family=family.title,
                    score=float(by_fold.mean()) if by_fold.size else None,
                    error=corrected_error(by_fold, race.K) if by_fold.size > 1 else None,
                    against="baseline" if family.is_guess else state,
                    seconds=float(race.seconds[number] / max(fits[number], 1)),
                )
            )
    return sorted(lines, key=lambda one: np.inf if one["score"] is None else -judge.sign * one["score"])


def opinions(race: Race, found: Audit | None, judge: Score, prefer: str) -> dict[str, Facts]:
    """The estimate by folds, where the one that is told is nested: the choice repeated without each fold, from models that have seen it.
    What the last rows bring is the same for both."""
    if found is None or not found.nested:
        return {}
    other = audit(race, nested=False)
    if other is None:
        return {}
    return {"by folds": asdict(grown(other.estimate(judge, other.outputs[prefer]), judge, found.growth(judge, prefer)))}


def curve(race: Race, found: Audit | None, judge: Score, mixes: list[Mix], prefer: str) -> list[Facts]:
    """The score of a model fitted to K − 2 and to K − 1 of K folds, where both were; of the first of these models for which they were.

    The last point tells what it is ahead: the difference on the same rows, and its standard error; by what the rounds took (`growth`) where
    that is known, so that the page does not say two things of more rows.
    """
    if found is None or not found.nested or judge.row_loss is None:
        return []
    held, rows, n, K = race.held_out(), found.rows, len(race.y), race.K
    for mix in mixes:
        fewer = _fewer(race, mix, rows)
        if fewer is None:
            continue
        outputs, inner = held.decided(mix.outputs(held, rows), rows), [held.decided(one, rows) for one in fewer]
        ends = [estimated(judge, held, one, rows, "") for one in inner]
        first = {end: float(np.mean([getattr(one, end) for one in ends])) for end in ("value", "low", "high")}
        last = estimated(judge, held, outputs, rows, "")
        ahead = np.mean([held.row_losses(one, rows) for one in inner], axis=0) - held.row_losses(outputs, rows)
        unit = 1.0
        if judge.name == "rmse" and last.value > 0:  # rows lose squares
            unit = 2 * last.value
        elif judge.name == "r2" and last.value < 1:
            unit = float(held.mean(held.row_losses(outputs, rows), rows)) / (1 - last.value)
        by = found.growth(judge, prefer)
        gain, error = (by.gain, by.error) if by is not None else (float(held.mean(ahead, rows)), WIDER * held.error(ahead, rows))
        return [
            dict(rows=round(n * (K - 2) / K), score=first["value"], low=first["low"], high=first["high"]),
            dict(rows=round(n * (K - 1) / K), score=last.value, low=last.low, high=last.high, gain=gain / unit, error=error / unit),
        ]
    return []


def _fewer(race: Race, mix: Mix, rows: Array) -> list[Array] | None:
    """Outputs for all rows by models that have seen all folds but two, that of the row and another one: for each of those.

    None where some member did not run there.
    """
    found = []
    for step in range(1, race.K):
        whole: Array | None = None
        for k in range(race.K):
            at = np.flatnonzero(race.fold[rows] == k)
            one = mix.outputs(race.held_out((k + step) % race.K), rows[at])
            if not np.isfinite(one).all():
                return None
            whole = np.empty((len(rows), one.shape[1])) if whole is None else whole
            whole[at] = one
        if whole is not None:
            found.append(whole)
    return found
