"""An outcome as plain values: what a listener is told of its estimate, and what run.json keeps."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from tenfold.score.record import split_choice
from tenfold.selection.board import guess_label, trace
from tenfold.selection.choice.choice import Mix
from tenfold.selection.choice.costs import COST
from tenfold.selection.honest.estimate import Estimate
from tenfold.selection.honest.remarks import curve, opinions, tried
from tenfold.selection.outcome import Outcome


def facts_of(outcome: Outcome) -> dict[str, Any]:
    """The estimate and what it is compared with, for a listener."""
    race, found = outcome.race, outcome.audit
    names = [judge.name for judge in race.judges]
    if found is None:
        empty: dict[str, Any] = dict(estimates=[], guess={}, guess_labels={}, rounds=0)
        unknown = dict.fromkeys(("signal", "board", "search", "growth", "gain", "reach", "reaches", "sets", "chances"))
        known = dict(metric=outcome.judge.name, is_guess=outcome.is_guess, rows=len(outcome.task.y), settings=len(race.settings) - 1)
        return empty | unknown | known
    certainty = _certainty(outcome)
    reaches = certainty.pop("reaches")
    rivals = [outcome.name(choice.taken(outcome.prefer)) for choice in found.choices]
    return dict(
        estimates=[asdict(one) for one in outcome.estimates.values()],
        metric=outcome.judge.name,
        signal=outcome.signal,
        is_guess=outcome.is_guess,
        board=outcome.on_board,
        guess=outcome.guesses,
        guess_labels={name: guess_label(outcome.task, name, outcome.race.weight) for name in names} | _constants(outcome),
        search=asdict(found.estimate(outcome.judge, found.outputs[outcome.prefer])),
        growth=outcome.growth,
        untried=outcome.untried,
        gain=None if outcome.gain is None else asdict(outcome.gain),
        rounds=len(found.choices),
        rows=len(outcome.task.y),
        settings=len(race.settings) - 1,
        **certainty,
        reaches=None if reaches is None else reaches[1],
        method=found.method,
        picks=rivals,
    )


def record_of(outcome: Outcome) -> dict[str, Any]:
    """What run.json keeps of it."""
    found, race = outcome.audit, outcome.race
    audited = None
    if found is not None:
        audited = dict(
            method=found.method,
            gain=None if outcome.gain is None else asdict(outcome.gain),
            picks=[outcome.name(choice.taken(outcome.prefer)) for choice in found.choices],
            estimates=_as_dicts(found.estimates(race.judges, outcome.prefer, all_rows=not outcome.is_guess)),
        )
    best = outcome.taken if outcome.is_guess else outcome.choice.best
    return dict(
        chosen=outcome.label,
        prefer=outcome.prefer,
        members=outcome.members,
        floor=race.fits.floor,
        tied=outcome.tied,
        simple=dict(model=outcome.name(outcome.simple), estimate=_as_dicts(outcome.estimates_of("simple"))),
        best=dict(model=outcome.name(best), estimate=_as_dicts(outcome.estimates_of("best"))),
        signal=outcome.signal,
        decisions=outcome.decision_facts,
        board=outcome.board,
        trace=trace(race),
        divisions=1 + len(race.repeats),
        search=audited,
        estimate=_as_dicts(outcome.estimates),
        **_certainty(outcome),
        warnings=race.warned,
        failures=race.failures,
        merged=[family.title for family, sets in zip(race.families, race.fits.sets, strict=True) if sets.merged],
        notes=outcome.task.notes,
        tried=tried(race, outcome.judge),
        opinions={} if outcome.is_guess else opinions(race, found, outcome.judge, outcome.prefer),
        growth=outcome.growth,
        untried=outcome.untried,
        curve=[]
        if outcome.is_guess
        else curve(race, found, outcome.judge, [outcome.taken, Mix({outcome.choice.leader: 1.0})], outcome.prefer),
    )


def _as_dicts(estimates: dict[str, Estimate]) -> dict[str, dict[str, Any]]:
    return {name: asdict(one) for name, one in estimates.items()}


def _certainty(outcome: Outcome) -> dict[str, Any]:
    """How far single predictions can be relied on."""
    found = outcome.certainty
    if found is None:
        return dict.fromkeys(("reach", "reaches", "sets", "chances"))
    reaches = None if found.half_widths is None else found.half_widths.tolist()
    return dict(reach=found.half_width, reaches=reaches, sets=found.sets, chances=found.calibration)


def _constants(outcome: Outcome) -> dict[str, str]:
    """The guess in words, by the scores of decisions for which it decides otherwise than for the most frequent class."""
    if outcome.audit is None or outcome.task.kind == "number":
        return {}
    codes = split_choice(outcome.audit.held.decided(outcome.audit.guessed, outcome.audit.rows), outcome.task.n_classes)[1]
    if codes is None:
        return {}
    label = f"always predicting {outcome.task.classes[np.bincount(codes).argmax()]}"
    return {COST if outcome.race.costs is not None else outcome.judge.name: label}
