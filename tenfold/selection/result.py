"""What came of a run: the models, and all that run.json keeps of how they were found."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from typing import Any

import numpy as np

import tenfold
from tenfold.selection.dataset import Dataset
from tenfold.selection.model.store import MARK
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.outcome import Outcome
from tenfold.selection.record import record_of
from tenfold.selection.settings import Settings
from tenfold.table.reading import pl
from tenfold.table.sketch import sketch


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    outcome: Outcome
    model: TableModel
    beside: TableModel | None  # the simplest model that is as good, where it is another one; where that is preferred, the best
    sketch: dict[str, Any]  # of the training table
    record: dict[str, Any]  # what run.json holds

    @classmethod
    def of(
        cls,
        outcome: Outcome,
        dataset: Dataset,
        models: tuple[TableModel, TableModel | None],
        settings: Settings,
        how: dict[str, Any],
        seconds: float,
    ) -> Result:
        """how: what the rows were found to be like, and whether the run was cut short."""
        race = outcome.race
        fitting = dict(zip((family.title for family in race.families), race.seconds.tolist(), strict=True))
        record = dict(
            made_by=MARK,
            **(dict(command="fit") if race.named else {}),
            tenfold=tenfold.__version__,
            python=platform.python_version(),
            numpy=np.__version__,
            polars=pl.__version__,
            **dataset.record(settings, race.K),
            **record_of(outcome),
            **how,
            units=race.units_done - race.less_units,
            fewer=race.less_units,
            folds_sha256=hashlib.sha256(race.fold.astype("<i8").tobytes()).hexdigest(),
            seconds=dict(total=seconds, fitting=fitting),
        )
        return cls(outcome, *models, sketch(dataset.used, dataset.columns), record)
