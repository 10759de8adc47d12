"""What the page is written from: the record of a run and its held-out predictions, read with tolerance for what is absent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tenfold.core.data import Array
from tenfold.score.record import Score
from tenfold.score.registry import SQUARED
from tenfold.score.words import figure, metric_name
from tenfold.selection.choice.decision import judge_of
from tenfold.selection.honest.unseen import Unseen
from tenfold.table.show import shown

LONGEST_NAME = 60
LONGEST_MODEL = 90  # a learner with its settings, which are at the end


def as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def number(value: Any) -> float | None:
    """A finite number, or None."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if good else None


def floats(value: Any) -> list[float]:
    """A list of finite numbers; an empty one where anything else is in it."""
    found = [number(one) for one in as_list(value)]
    return [one for one in found if one is not None] if None not in found else []


@dataclass(frozen=True)
class Facts:
    """The record of a run, with what is asked of it by name; held-out predictions where there are any."""

    record: dict[str, Any]
    held: Unseen | None = None
    more: dict[str, Any] = field(default_factory=dict)  # what drives the model: `selection.explain.drivers`

    @property
    def weights(self) -> Array | None:
        """Of the held-out rows, where they do not count alike."""
        return None if self.held is None else self.held.weight

    @property
    def by_weight(self) -> str:
        """What is said of numbers that count rows by their weights."""
        return "" if self.weights is None else " Rows count by their weights."

    @property
    def data(self) -> dict[str, Any]:
        return as_dict(self.record.get("data"))

    @property
    def settings(self) -> dict[str, Any]:
        return as_dict(self.record.get("settings"))

    @property
    def target(self) -> str:
        return shown(self.settings.get("target", "the target"), LONGEST_NAME)

    @property
    def name(self) -> str:
        return shown(self.data.get("name", "table"), LONGEST_NAME)

    @property
    def classes(self) -> bool:
        return self.settings.get("task") == "classes"

    @property
    def metric(self) -> str:
        return str(self.settings.get("metric") or ("log_loss" if self.classes else "rmse"))

    @cached_property
    def judge(self) -> Score | None:
        return judge_of(self.metric, self.settings, self.held.classes if self.held is not None else None)

    def loss_name(self, label: Any = None) -> str:
        """What a mean loss of rows is called; label: as explained.json has it."""
        return "rmse" if self._is_rooted else shown(label or (self.judge.loss_label if self.judge else "") or "loss", 30)

    def loss(self, mean: float | None) -> float | None:
        """A mean loss as it is shown: of squared errors the root, which is in the unit of the target."""
        return math.sqrt(max(mean, 0.0)) if mean is not None and self._is_rooted else mean

    @property
    def _is_rooted(self) -> bool:
        return self.judge is not None and self.judge.loss_label == SQUARED["loss_label"] and self.metric != "mse"

    @property
    def greater(self) -> bool:
        return self.judge is not None and self.judge.greater_is_better

    @property
    def estimates(self) -> dict[str, dict[str, Any]]:
        """The estimates of the saved model by score, the judge first; those without a value are left out."""
        found = {str(name): as_dict(one) for name, one in as_dict(self.record.get("estimate")).items()}
        found = {name: one for name, one in found.items() if number(one.get("value")) is not None}
        return dict(sorted(found.items(), key=lambda pair: pair[0] != self.metric))

    @property
    def estimate(self) -> dict[str, Any]:
        return self.estimates.get(self.metric, {})

    @property
    def search(self) -> dict[str, Any]:
        """The estimate of the whole search, whatever was saved."""
        return as_dict(as_dict(as_dict(self.record.get("search")).get("estimates")).get(self.metric))

    @property
    def board(self) -> list[dict[str, Any]]:
        return [as_dict(row) for row in as_list(self.record.get("board"))]

    @property
    def guess(self) -> dict[str, Any]:
        """The place of the guess on the board."""
        return next((row for row in self.board if row.get("against") == "baseline" or row.get("rank") == 0), {})

    def guessed(self, metric: str) -> float | None:
        """What the guess scores."""
        if metric == self.metric:
            return number(self.guess.get("score"))
        return number(as_dict(self.guess.get("others")).get(metric))

    @property
    def leader(self) -> dict[str, Any]:
        """The place on the board of what is saved, else the first; nothing where none was sought."""
        first = next((row for row in self.board if row.get("against") == "best"), {})
        return {} if self.is_fit else next((row for row in self.board if row.get("model") == self.record.get("chosen")), first)

    @property
    def is_guess(self) -> bool:
        return self.record.get("signal") is False and not self.is_fit

    @property
    def is_fit(self) -> bool:
        """Whether it is a run of `tenfold fit`: one learner that was named, nothing chosen."""
        return self.record.get("command") == "fit"

    @property
    def chosen(self) -> str:
        return shown(self.record.get("chosen", "model"), 120)

    @property
    def rows(self) -> int:
        return int(number(self.data.get("rows_used")) or number(self.data.get("rows")) or (len(self.held) if self.held else 0))

    def figure(self, value: Any) -> str:
        return figure(number(value), self.metric)

    def metric_name(self, metric: str | None = None) -> str:
        return metric_name(self.metric if metric is None else metric)


def counted(count: int, one: str, many: str | None = None) -> str:
    """`3 rows`, `1 row`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[Any], most: int = 4) -> str:
    """`a, b and c`."""
    texts = [shown(name, 40) for name in names]
    if len(texts) > most:
        texts = [*texts[: most - 1], f"{len(texts) - most + 1:,} more"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}" if texts else ""
