"""Saved models: `save`, `load`, `inspect`.

A file holds numbers, texts, arrays, and kinds by their number in the fixed tables of `saved.kinds` and
`saved.statistics`: it cannot name code, and nothing here would run it. Learners become records in `saved.encoder`, records learners
in `saved.decoder`; the container is in `saved.archive`. docs/format.md specifies all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import tenfold
from tenfold.core.errors import BadFile, BadParameter
from tenfold.core.learned import learned_by
from tenfold.saved import archive, statistics
from tenfold.saved.decoder import Decoder, kind_name
from tenfold.saved.encoder import Encoder
from tenfold.saved.forms import objection

IN_RUN = "model.tenfold"  # the model in the folder of a run


@dataclass(frozen=True)
class Contents:
    """What is inside a saved model."""

    path: str
    kind: str
    parts: list[str]  # learners and statistics inside, in the order of the file
    format_version: int
    written_by: str
    n_features: int
    columns: list[str] | None
    resumable: bool
    holds_training_rows: bool
    size: int  # bytes
    arrays: list[dict[str, Any]]  # dtype, shape and SHA-256 of each
    sha256: str  # of model.json, which holds those of the arrays


def save(model: Any, path: Any, resumable: bool = False) -> None:
    """Write a fitted learner to a file; `resumable` keeps what partial_fit, merge and forget need."""
    path = os.fsdecode(path)
    encoder = Encoder(path, resumable)
    encoder.put(model)
    if resumable and not any("stats_" in one.get("fitted", ()) for one in encoder.objects):
        raise BadParameter(f"save(resumable=True): {type(model).__name__} keeps no statistics to resume from")
    header = dict(format="tenfold", version=encoder.version, written_by=tenfold.__version__, objects=encoder.objects)
    archive.write(path, header, encoder.arrays)


def load(path: Any) -> Any:
    """The learner that was saved in a file, or in the folder of a run. No code from the file is run; an unsound file is refused."""
    with archive.opened(_in_folder(path)) as file:
        return Decoder(file).model()


def inspect(path: Any) -> Contents:
    """What is inside a saved model, without loading it."""
    with archive.opened(_in_folder(path)) as file:
        decoder = Decoder(file)
        names = [kind_name(one) for one in decoder.objects]
        fitted = decoder.objects[-1]["fitted"]
        told = {name: decoder.decoded(fitted[name]) for name in ("n_features_in_", "feature_names_in_") if name in fitted}
        wrong = objection(told, "n_features_in_?=int feature_names_in_?=text(*)")
        archive.require(wrong is None, f"holds {names[-1]} in which {wrong}")
        columns = told.get("feature_names_in_")
        return Contents(
            path=file.path,
            kind=names[-1],
            parts=names[:-1],
            format_version=decoder.version,
            written_by=decoder.written_by,
            n_features=told.get("n_features_in_", 0),
            columns=None if columns is None else columns.tolist(),
            resumable=any("stats_" in one.get("fitted", ()) for one in decoder.objects),
            holds_training_rows=any(map(_holds_rows, decoder.objects)),
            size=file.size,
            arrays=file.declared,
            sha256=file.sha256,
        )


def _in_folder(path: Any) -> str:
    """The file of a model: the path itself, or what `tenfold select` has written into the folder."""
    found = os.fsdecode(path)
    if not os.path.isdir(found):
        return found
    if not os.path.isfile(os.path.join(found, IN_RUN)):
        raise BadFile(f"{found}: is not a file, nor a folder of tenfold select: it holds no {IN_RUN}")
    return os.path.join(found, IN_RUN)


def _holds_rows(record: dict[str, Any]) -> bool:
    """Whether a learner or a statistic keeps rows of the training table, or values of its columns."""
    if "statistic" not in record:
        declared = learned_by(getattr(tenfold, kind_name(record)))
        return any(name in declared and declared[name].holds_rows(record["params"]) for name in record["fitted"])
    return record["fields"].get(statistics.ROWS_IN.get(kind_name(record), "")) not in (None, [], {"tuple": []})
