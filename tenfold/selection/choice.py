"""The choice and its honest estimate, from the table of scores that a race fills."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri, stdtrit

from tenfold.core.data import Array
from tenfold.evaluate.validate.result import corrected_error
from tenfold.score.record import Score
from tenfold.score.registry import known_score
from tenfold.selection.candidates import Setting
from tenfold.selection.race import Race

AS_GOOD = 1.0  # corrected standard errors behind the leader
PRACTICALLY_EQUAL = 0.002  # share of what the leader gains over the guess: less than this is no difference
NEVER_EQUAL = 0.05  # more than this share is a difference, however large the error
NEVER_EQUAL_LOSS = 0.2  # and so is more than this share of the leader's own loss, where a score is one
LEVEL = 0.95
COVERAGE = 0.9  # share of new rows whose truth lies within the range of a prediction
MOST_LEVELS, LEVEL_ROWS = 10, 200  # of predictions that have ranges of their own, and the held-out rows of each
SHUFFLES, SHUFFLED_ROWS = 20, 200_000  # of the truth of a fold, at most, and rows of all of them together


@dataclass(frozen=True)
class Estimate:
    """A score expected on new rows, with a range that covers it with 95 % confidence."""

    metric: str
    value: float
    low: float
    high: float
    error: float  # corrected standard error
    method: str

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.4g}, 95% range {self.low:.4g} to {self.high:.4g} ({self.method})"


@dataclass(frozen=True)
class Place:
    """One family on the board, with its best setting."""

    setting: int
    mean: float
    error: float
    against: str  # "best", "as good", "perhaps worse", "worse", "baseline", "failed"


@dataclass(frozen=True)
class Choice:
    """The places of a board, best first, and the setting that is taken."""

    places: list[Place]
    leader: int
    chosen: int


def choose(settings: list[Setting], scores: Array, judge: Score) -> Choice:
    """From scores (settings, folds): the simplest of the families that are as good as the leader, each at its best setting.

    Simplicity is the kind of model, and among trees their number of leaves at most.

    A family is as good if it is behind the leader by at most one corrected standard error of the paired
    difference (Breiman's rule with the correction of Nadeau & Bengio), and by at most 5 % of what the leader
    gains over the guess and 20 % of what it still loses: a learner that fails badly on one fold has a large error,
    and must not pass for as good because of it. The guess is taken only where it leads.
    """
    usable: Array = np.asarray(np.isfinite(scores).all(axis=1))
    mean = np.where(usable, judge.sign * np.where(usable[:, None], scores, 0.0).mean(axis=1), -np.inf)
    best: dict[str, int] = {}
    for c, setting in enumerate(settings):
        title = setting.family.title
        if title not in best or mean[c] > mean[best[title]]:
            best[title] = c
    order = sorted(best.values(), key=lambda c: (-mean[c], settings[c].simplicity))
    leader = order[0]
    guess = next(c for c in order if settings[c].family.is_guess)
    gain = float(mean[leader] - mean[guess])
    ahead = judge.sign * (scores[leader] - scores[guess])
    useful = leader != guess and gain > quantile(ahead.size) * corrected_error(ahead, ahead.size)
    hopeless: Array = usable & (mean < mean[guess]) & useful  # worse than guessing, which the leader beats
    limit = NEVER_EQUAL * gain
    if not judge.greater_is_better:
        limit = min(limit, NEVER_EQUAL_LOSS * -float(mean[leader]))
    places = [
        Place(
            c,
            float(judge.sign * mean[c]) if usable[c] else np.nan,
            corrected_error(scores[c], scores.shape[1]),
            "worse"
            if hopeless[c]
            else _against(
                judge.sign * (scores[leader] - scores[c]), gain, limit, c == leader, settings[c], bool(usable[c])
            ),
        )
        for c in order
    ]
    fit = [p.setting for p in places if p.against in ("best", "as good")]
    return Choice(places, leader, min(fit, key=lambda c: settings[c].simplicity))


def _against(behind: Array, gain: float, limit: float, leads: bool, setting: Setting, usable: bool) -> str:
    """How a family stands against the leader, from what it is behind on each fold; beyond `limit` it is never as good."""
    if not usable:
        return "failed"
    if leads:
        return "best"
    if setting.family.is_guess:
        return "baseline"
    gap, error = behind.mean(), corrected_error(behind, behind.size)
    if gap <= PRACTICALLY_EQUAL * gain or gap <= min(AS_GOOD * error, limit):
        return "as good"
    return "worse" if gap > quantile(behind.size) * error else "perhaps worse"


def quantile(scores: int) -> float:
    """Student's t for a two-sided range of a mean of so many scores."""
    return float(stdtrit(max(scores - 1, 1), 0.5 + LEVEL / 2))


def estimated(metric: str, scores: Array, folds: int, method: str) -> Estimate:
    """Mean and range of fold scores."""
    value, error = float(scores.mean()), corrected_error(scores, folds)
    reach = quantile(scores.size) * error
    return Estimate(metric, value, value - reach, value + reach, error, method)


@dataclass(frozen=True)
class Nested:
    """What the whole procedure scores on rows that had no part in it."""

    estimates: dict[str, Estimate]
    gain: Estimate  # what the chosen model is better than the guess by, in the score that was asked for
    picks: list[int]  # the setting chosen in each outer round
    leaders: list[int]  # and the one that led there, which may be less simple

    @property
    def signal(self) -> bool:
        """Whether the range of the gain leaves no room for zero."""
        return self.gain.low > 0


def nested_estimate(race: Race, judge: Score) -> Nested | None:
    """In each outer round the complete choice is made again from the other folds, and scored on that one."""
    rounds = race.complete_outer
    if len(rounds) < 2:
        return None
    table = race.scores[judge.name]
    guess = next(c for c, setting in enumerate(race.settings) if setting.family.is_guess)
    made = []
    for o in rounds:
        inner = np.delete(table[:, :, o], o, axis=1)
        inner[~np.isfinite(table[:, o, o])] = np.nan  # what fails on the outer round cannot be taken in it
        made.append(choose(race.settings, inner, judge))
    picks = [choice.chosen for choice in made]
    method = f"nested cross-validation, {len(rounds)} outer rounds of the whole search, {race.K - 1} inner folds"
    outer = {
        name: np.array([scores[c, o, o] for c, o in zip(picks, rounds, strict=True)])
        for name, scores in race.scores.items()
    }
    tested = int(np.isin(race.fold, rounds).sum())
    return Nested(
        {name: honest_range(estimated(name, scores, race.K, method), tested) for name, scores in outer.items()},
        gain_over_guess(race, judge, picks, guess),
        picks,
        [choice.leader for choice in made],
    )


def gain_over_guess(race: Race, judge: Score, picks: list[int], guess: int) -> Estimate:
    """What the picks of the complete outer rounds gain over the guess, in the score that was asked for.

    Where it is a mean over rows, or rises and falls with one (RMSE with the squared error), row by row; else round by
    round. Then the guess is not always what chance gets: one class for every row has a macro-averaged F1 of 1/3, random
    labels 1/2. So the gain counts from the guess or from the picks on rows of shuffled truth, whichever scores more.
    """
    rounds = [np.flatnonzero(race.fold == o) for o in race.complete_outer]
    if judge.row_loss is not None:
        ahead = [race.losses(guess, rows) - race.losses(c, rows) for c, rows in zip(picks, rounds, strict=True)]
        return _gain(judge.loss_label, np.concatenate(ahead))
    scores = race.scores[judge.name]
    found, guessed = (
        judge.sign * np.array([scores[c, o, o] for c, o in zip(of, race.complete_outer, strict=True)])
        for of in (picks, [guess] * len(picks))
    )
    chance = judge.sign * np.array([_shuffled(race, judge, c, rows) for c, rows in zip(picks, rounds, strict=True)])
    ahead_of = guessed if guessed.mean() >= chance.mean() else chance
    return estimated(judge.name, found - ahead_of, race.K, "paired differences of the outer rounds")


def _shuffled(race: Race, judge: Score, c: int, rows: Array) -> float:
    """The mean score of setting c on held-out rows whose truth is shuffled."""
    times = max(1, min(SHUFFLES, SHUFFLED_ROWS // len(rows)))
    rng, truth = np.random.default_rng(len(rows)), race.truth(rows)
    output, w = race.outputs[c, rows].astype(np.float64, copy=False), np.ones(len(rows))
    return float(np.mean([judge.of(rng.permutation(truth), output, w, race.labels) for _ in range(times)]))


def reach_of(losses: Array, metric: str) -> float | None:
    """How far off the prediction for a new row is in 90 % of cases: split conformal, from the losses of held-out rows.

    None where there are too few rows.
    """
    place = int(np.ceil(COVERAGE * (len(losses) + 1)))
    if place > len(losses):
        return None
    off = losses if metric == "mae" else np.sqrt(losses)
    return float(np.partition(off, place - 1)[place - 1])


def reaches_of(predictions: Array, losses: Array, metric: str) -> Array | None:
    """(2, levels): the largest prediction of each level, and how far off predictions of that level are in 90 % of cases.

    Levels have equally many held-out rows. None where there are too few rows for two of them.
    """
    levels = min(MOST_LEVELS, len(predictions) // LEVEL_ROWS)
    if levels < 2:
        return None
    ends = np.unique(np.quantile(predictions, np.arange(1, levels + 1) / levels, method="inverted_cdf"))
    if len(ends) < 2:
        return None
    of = np.minimum(np.searchsorted(ends, predictions), len(ends) - 1)
    off = [reach_of(losses[of == level], metric) for level in range(len(ends))]
    return None if None in off else np.array([ends, off], dtype=np.float64)


def _gain(name: str, gain: Array) -> Estimate:
    """Mean and range of the gain, row by row.

    Rows are taken as independent, without the correction for shared training rows. That is safe for the one
    question it serves, whether there is any signal: where there is none a search can only lose against the
    guess, so the gain lies below zero, not around it.
    """
    value, error = float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(gain.size))
    reach = float(ndtri(0.5 + LEVEL / 2)) * error
    return Estimate(name, value, value - reach, value + reach, error, "paired differences of rows in the outer rounds")


def honest_range(estimate: Estimate, rows: int) -> Estimate:
    """The range cut at what the score can be; for accuracy, at least as wide as so many coin throws allow.

    Where every fold has the same accuracy, 100 % say, the folds alone would claim to know it exactly;
    Wilson's range does not.
    """
    score = known_score(estimate.metric)
    least, most = (-np.inf, np.inf) if score is None else (score.low, score.high)
    low, high = estimate.low, estimate.high
    if estimate.metric == "accuracy":
        z, p = float(ndtri(0.5 + LEVEL / 2)), estimate.value
        middle, reach = p + z * z / (2 * rows), z * np.sqrt(p * (1 - p) / rows + z * z / (4 * rows * rows))
        low, high = (
            min(low, (middle - reach) / (1 + z * z / rows)),
            max(high, (middle + reach) / (1 + z * z / rows)),
        )
    return replace(estimate, low=float(max(low, least)), high=float(min(high, most)))
