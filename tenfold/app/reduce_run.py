"""The axes of a table: prepared, counted, fitted, told in words, and kept as a folder that gives new rows their scores.

    scores.parquet   the scores of the rows, beside the files that every such folder has
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.app.reduce_map import Neighbourhood, neighbourhood_of
from tenfold.app.reduce_methods import METHODS, Asked, Method, method_named, suited
from tenfold.app.reduce_number import Spectrum, spectrum_of
from tenfold.app.reduce_words import Axis, correlations, ends_of, loadings_of, ties_of, warnings_of
from tenfold.app.run_folder import (
    FILES,
    Facts,
    Kept,
    check_new,
    chosen,
    labels_of,
    pipeline_of,
    places_of,
    prepared,
    write_folder,
)
from tenfold.app.table_lines import Tell
from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput, kept_warnings
from tenfold.report.axes import Picture, axes_page
from tenfold.table.columns import typed_names
from tenfold.table.reading import pl
from tenfold.table.sample import read_sample
from tenfold.table.table import Table

SCORES = "scores.parquet"
KEPT = Kept("tenfold reduce", "--save", "holds the axes of", FILES | {SCORES})
LEAST_ROWS = 5
MOST_DRAWN = 3  # axes in pictures


@dataclass(frozen=True)
class Reduced:
    """The axes of a table; `model` is None where nothing is common to its columns."""

    table: Table
    prepare: Any
    method: str
    spectrum: Spectrum
    why: str
    warnings: list[str]
    colour: pl.Series | None = None
    axes: tuple[Axis, ...] = ()
    together: float = 0.0  # share of all variance that goes with all axes
    scores: Array | None = None
    picture: Picture | None = None
    map: Neighbourhood | None = None
    model: Any = None

    def facts(self) -> Facts:
        """What was found, as JSON has it."""
        held, way = self.spectrum, METHODS[self.method]
        axes = [
            vars(one)
            | dict(words=one.words, ties=[vars(tie) for tie in one.ties])
            | dict(lowest=[vars(end) for end in one.lowest], highest=[vars(end) for end in one.highest])
            for one in self.axes
        ]
        return dict(
            rows=self.table.height, method=self.method, says=way.says, components=len(self.axes), why=self.why,
            together=self.together, beyond_chance=held.beyond, shares=held.shares.tolist(), chance=held.chance.tolist(),
            low=None if held.low is None else held.low.tolist(), high=None if held.high is None else held.high.tolist(),
            missing=self.missing, warnings=self.warnings, color=None if self.colour is None else self.colour.name, axes=axes,
            map=None if self.map is None else vars(self.map),
        )  # fmt: skip

    @property
    def missing(self) -> int:
        """Cells without a value, of the columns that are used."""
        return sum(self.table.values[name].null_count() for name in self.prepare._used if name in self.table.values.columns)


def reduce_file(
    file: Path, method: str, asked: Asked, columns: list[str], without: list[str], color: str | None, rows: int | None, seed: int,
    tell: Tell,
) -> Reduced:  # fmt: skip
    """Read, prepare, count, fit and describe."""
    way = method_named(method)
    tell("reading")
    whole = Table(read_sample(file, rows or way.most_rows, seed))
    colour = None if color is None else whole.frame[typed_names([color], whole.raw.frame.columns)[0]]
    aside = [] if colour is None or colour.name in typed_names([*columns, *without], whole.raw.frame.columns) else [colour.name]
    table = chosen(whole, columns, without + ([] if columns else aside), "make axes of")
    if table.height < LEAST_ROWS:
        raise BadInput(f"{table.raw.name} has {table.height} rows: at least {LEAST_ROWS} are needed to make axes")
    prepare = prepared(table)
    if len(prepare._used) < 2:
        raise BadInput(f"of {table.raw.name} one column is left ({prepare._used[0]!r}): axes are made of at least two")
    Z = np.ascontiguousarray(prepare.transform(table), dtype=np.float64)
    places, names = places_of(prepare), [str(name) for name in prepare.get_feature_names_out()]
    tell("how many axes")
    spectrum = spectrum_of(Z, list(places.values()), seed)
    k, why = asked.count(spectrum, Z)
    found = Reduced(table, prepare, method, spectrum, why, warnings_of(Z, names, places), colour)
    if k == 0:
        return found
    tell(way.says.partition(":")[0])
    steps, scores = _fitted(way, k, Z, seed)
    tell("axes in words")
    axes, together = _described(found, Z, scores, places, names)
    near = neighbourhood_of(Z, scores, places, seed) if way.map else None
    drawn = tenfold.PCA(2).fit_transform(Z) if method == "pca" and k == 1 else scores[:, :MOST_DRAWN]  # a picture has two axes
    picture = Picture.of(drawn, loadings_of(correlations(Z, drawn), names, places), list(places), colour, seed)
    model = pipeline_of(prepare, *steps)
    return replace(found, axes=tuple(axes), together=together, scores=scores, picture=picture, map=near, model=model)


def _fitted(way: Method, k: int, Z: Array, seed: int) -> tuple[list[tuple[str, Any]], Array]:
    """What stands behind Prepare, fitted, and the scores of the rows."""
    steps = list[tuple[str, Any]]()
    if way.positive:
        scaler = tenfold.MinMaxScaler(clip=True).fit(Z)
        steps, Z = [("from zero to one", scaler)], scaler.transform(Z)
    learner = suited(way.made(k, seed), len(Z))
    with kept_warnings():
        learner.fit(Z)
    scores = learner.embedding_ if way.map else learner.transform(Z)
    return [*steps, ("axes", learner)], np.asarray(scores, dtype=np.float64)


def _described(found: Reduced, Z: Array, scores: Array, places: dict[str, list[int]], names: list[str]) -> tuple[list[Axis], float]:
    """Each axis, and the share of all variance that goes with all of them."""
    table, held = found.table, found.spectrum
    r, variance = correlations(Z, scores), Z.var(axis=0)
    total = float(variance.sum()) or 1.0
    share = (r * r * variance[:, None]).sum(axis=0) / total
    numbers = np.arange(len(Z)) if table.raw.drawn is None else table.raw.drawn
    labels, axes = labels_of(table), list[Axis]()
    known = found.method == "pca"
    for j in range(scores.shape[1]):
        ranged = known and j < len(held.shares)
        low, high, again = (None if one is None or not ranged else float(one[j]) for one in (held.low, held.high, held.again))
        ends = ends_of(scores[:, j], numbers, labels)
        axes.append(Axis(j + 1, float(share[j]), low, high, again, ties_of(r[:, j], names, places), *ends))
    centred = Z - Z.mean(axis=0)
    basis, _ = np.linalg.qr(scores - scores.mean(axis=0))
    return axes, float(np.square(basis.T @ centred).sum() / (len(Z) * total))


# --- scores as tables ---


def framed(table: Table, scores: Array) -> pl.DataFrame:
    """A line for each row: its number, what it is called, and its scores."""
    number = np.arange(table.height) if table.raw.drawn is None else table.raw.drawn
    name = next((column.name for column in table.columns if column.kind == "id"), "row")
    return pl.DataFrame({"row": number + 1} | ({} if name == "row" else {name: table.raw.frame[name]})).hstack(axis_columns(scores))


def axis_columns(scores: Array) -> pl.DataFrame:
    return pl.DataFrame({f"axis {j + 1}": column for j, column in enumerate(np.asarray(scores, dtype=np.float64).T)})


class AxisModel:
    """Saved axes as what predicts: the scores of each row."""

    role, target_ = "transformer", "axis 1"

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline

    @property
    def columns(self) -> list[str]:
        return list(self.pipeline.steps[0][1]._used)

    def check_columns(self, known: Sequence[str], name: str) -> None:
        check_new(self.pipeline.steps[0][1], known, name)

    def coded(self, table: Any) -> Any:
        return table

    def frame(self, table: Any) -> pl.DataFrame:
        """The scores of a table, a column for each axis."""
        return axis_columns(self.pipeline.transform(table))

    def fits(self, table: Any) -> float | None:
        """The share of the variance of new rows, about the means of those of the fit, that the axes explain; None where it is not known."""
        Z = np.ascontiguousarray(self.pipeline.steps[0][1].transform(table), dtype=np.float64)
        learner = self.pipeline.steps[-1][1]
        if len(self.pipeline.steps) > 2 or not hasattr(learner, "inverse_transform") or "mean_" not in vars(learner):
            return None
        left = Z - learner.inverse_transform(learner.transform(Z))
        return float(1 - np.square(left).sum() / (np.square(Z - learner.mean_).sum() or 1.0))


def new_scores(model: AxisModel, file: Path) -> tuple[pl.DataFrame, float | None]:
    """The scores of the rows of a file, and how well the axes fit them."""
    table = Table(read_sample(file, None, 0))
    model.check_columns(table.raw.frame.columns, table.raw.name)
    scores = model.frame(table.raw.frame)
    return framed(table, scores.to_numpy()), model.fits(table.raw.frame)


# --- the folder ---


def write_axes(folder: Path, found: Reduced, file: Path, seed: int, commands: list[str]) -> None:
    """Whole or not at all."""
    assert found.scores is not None and found.picture is not None
    record = KEPT.record(found.table, found.prepare, file, seed, found.facts())
    page = axes_page(record, found.picture, commands)
    write_folder(folder, found.model, record, found.table, page, {SCORES: framed(found.table, found.scores)})


def axes_model(folder: Path) -> AxisModel:
    """What a folder with axes gives new rows."""
    record = KEPT.record_of(folder)
    if not record:
        raise BadFile(f"{folder} was not made by tenfold reduce: give a table, or a folder that it has made")
    if not METHODS.get(str(record.get("method")), METHODS["pca"]).new:
        raise BadFile(f"{folder} holds a map of its rows, which has no place for new ones: run tenfold reduce on all rows together")
    return AxisModel(KEPT.model_in(folder))


def open_axes(folder: Path) -> AxisModel | None:
    """The model of a folder with axes; None of another."""
    return axes_model(folder) if KEPT.record_of(folder) else None


def axes_in(folder: Path) -> list[tuple[str, str]]:
    """What a folder with axes holds: titles and texts; nothing of another."""
    record = KEPT.record_of(folder)
    try:
        share = "" if record["map"] else f"   {100 * record['together']:.0f} % of the variance"
        return [("AXES", f"{len(record['axes'])} of {record['rows']:,} rows of {record['data']['name']}   {record['says']}{share}")]
    except (KeyError, TypeError, ValueError, AttributeError):  # another folder, another version, or somebody wrote in it
        return []
