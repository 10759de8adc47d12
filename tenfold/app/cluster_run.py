"""The groups of a table: prepared, counted, described, and kept as a folder that `tenfold predict` takes.

    model.tenfold   Prepare and KMeans as one pipeline     sketch.json   what the columns held, without the rows
    run.json        what was found                         report.html   the same as a page
"""

from __future__ import annotations

import json
import os
import platform
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.cluster.choose import ClusterChoice, choose_clusters
from tenfold.cluster.describe import Trait, telling, traits
from tenfold.cluster.stability import Stability, stability
from tenfold.core.data import Array
from tenfold.core.errors import BadFile, BadInput, BadParameter, kept_warnings
from tenfold.report.groups import Cloud, groups_page
from tenfold.saved.writing import cannot_write, new_folder, put_folder
from tenfold.selection.store import MODEL, RECORD, REPORT, SKETCH, open_run, plain
from tenfold.table.columns import check_name
from tenfold.table.reading import pl, place_of
from tenfold.table.sample import read_sample
from tenfold.table.sketch import sketch
from tenfold.table.table import Table

MARK = "tenfold cluster"
FILES = frozenset((MODEL, RECORD, SKETCH, REPORT))
COLUMN = "cluster"
MOST_TRAITS = 4
MOST, RESTARTS = 12, 10
Facts = dict[str, Any]


@dataclass(frozen=True)
class Group:
    """One cluster: its number from 1, the largest first, and what sets it apart."""

    number: int
    rows: int
    share: float
    again: float  # how much of it is found in groupings of halves
    traits: list[Trait]


@dataclass(frozen=True)
class Groups:
    """The groups of a table; `model` is None where there are none."""

    table: Table
    prepare: Any
    choice: ClusterChoice
    asked: int | None
    groups: list[Group]
    stability: Stability | None
    model: Any
    cloud: Cloud | None = None

    @property
    def left_out(self) -> list[tuple[str, str]]:
        """Columns that are not used, and why."""
        used = set(self.prepare._used)
        facts = zip(self.prepare.feature_names_in_, self.prepare.kinds_, self.prepare.notes_, strict=True)
        return [(str(name), str(note or f"{kind}, left out")) for name, kind, note in facts if str(name) not in used]

    def facts(self) -> Facts:
        """What was found, as JSON has it."""
        rules = {one.rule: one.clusters for one in self.choice.rules}
        return dict(
            rows=self.table.height, columns=self.prepare._used, left_out=dict(self.left_out), clusters=len(self.groups) or 1,
            asked=self.asked, recommended=self.choice.clusters, why=self.choice.why, rules=rules,
            curves={name: curve.tolist() for name, curve in self.choice.table.items()},
            agreement=None if self.stability is None else self.stability.agreement,
            groups=[vars(group) | dict(traits=[vars(one) | dict(words=str(one)) for one in group.traits]) for group in self.groups],
        )  # fmt: skip


def groups_of(file: Path, clusters: int | None, columns: list[str], without: list[str], rows: int | None, seed: int) -> Groups:
    """Read, prepare, count and describe."""
    table = chosen(Table(read_sample(file, rows, seed)), columns, without)
    if not table.values.width:
        raise BadInput(f"no column of {table.raw.name} is left to group rows by: tenfold check shows what its columns hold")
    prepare = tenfold.Prepare("neighbors", most_words=0).fit(table)
    Z = np.ascontiguousarray(prepare.transform(table), dtype=np.float64)
    if clusters is not None and clusters > len(Z):
        raise BadParameter(f"--clusters {clusters}: there are {len(Z)} rows, ask for fewer clusters")
    choice = choose_clusters(Z, MOST, random_state=seed)
    k = choice.clusters if clusters is None else clusters
    if k == 1:
        return Groups(table, prepare, choice, clusters, [], None, None)
    with kept_warnings():  # clusters without rows are told with the groups
        means = tenfold.KMeans(k, n_init=RESTARTS, random_state=seed).fit(Z)
    labels = _largest_first(means)
    found = stability(Z, labels, k, seed) if len(Z) >= 2 * k else None
    model = tenfold.Pipeline([("prepare", prepare), ("cluster", means)])
    vars(model).update(n_features_in_=prepare.n_features_in_, feature_names_in_=prepare.feature_names_in_)
    return Groups(table, prepare, choice, clusters, _described(table, prepare, labels, k, found), found, model, Cloud.of(Z, labels, seed))


def chosen(table: Table, columns: list[str], without: list[str]) -> Table:
    """The columns that are wanted."""
    wanted = table.select(_names(columns, table)) if columns else table
    left = wanted.drop(_names(without, wanted)) if without else wanted
    if not left.width:
        raise BadParameter("--without: no column is left to go by")
    return left


def _names(given: list[str], table: Table) -> list[str]:
    """Names as they were typed: each by itself, or several with commas between, where no column is called so."""
    known = table.raw.frame.columns
    names = [part for one in given for part in ([one] if one in known else [piece.strip() for piece in one.split(",")])]
    for name in names:
        check_name(name, known)
    return list(dict.fromkeys(names))


def _largest_first(means: Any) -> Array:
    """Number the clusters by their size; the cluster of each row. Clusters that have no rows are the last."""
    k = len(means.cluster_centers_)
    order = np.argsort(-np.bincount(means.labels_, minlength=k), kind="stable")
    labels = np.argsort(order)[means.labels_]
    vars(means).update(cluster_centers_=np.ascontiguousarray(means.cluster_centers_[order]))
    vars(means).pop("labels_")  # a model for new rows
    return np.asarray(labels)


def _described(table: Table, prepare: Any, labels: Array, k: int, found: Stability | None) -> list[Group]:
    values = table.values.select([name for name in prepare._used if name in table.values.columns])
    kinds = {column.name: column.look.kind for column in table.columns if column.look is not None}
    size = np.bincount(labels, minlength=k)
    some = traits(values, kinds, labels, k)
    again = np.full(k, np.nan) if found is None else found.again
    return [
        Group(i + 1, int(size[i]), float(size[i] / len(labels)), float(again[i]), telling(some[i], MOST_TRAITS))
        for i in range(k)
        if size[i]
    ]


# --- the folder ---


def check_place(folder: Path, file: Path, replace: bool) -> None:
    """Refuse, before any work is done, a folder that is somebody else's, or holds the groups of another table."""
    earlier = record_of(folder)
    there = {entry.name for entry in folder.iterdir()} if folder.is_dir() else set[str]()
    foreign = there and not (earlier and there <= FILES)
    if foreign or (folder.exists() and not folder.is_dir()):
        raise BadFile(f"{folder} exists and was not made by tenfold cluster: choose another name with --out")
    if not folder.parent.is_dir():
        raise BadFile(f"there is no folder {folder.parent} to write {folder.name} into: make it first")
    if earlier and not replace and earlier.get("data", {}).get("place") != place_of(file):
        raise BadFile(f"{folder} holds the groups of another table: choose another folder with --out, or replace it with --replace")


def next_commands(folder: Path, file: Path) -> list[str]:
    """What to type next, ready to paste."""
    there = shlex.quote(str(folder))
    return [f"tenfold predict {there} {shlex.quote(str(file))}     the group of each row", f"tenfold inspect {there}     what is inside"]


def write_groups(folder: Path, found: Groups, file: Path, seed: int) -> None:
    """Whole or not at all."""
    looks = [column.look for column in found.table.columns if column.look is not None and column.name in found.prepare._used]
    record = dict(
        made_by=MARK, version=tenfold.__version__, python=platform.python_version(), seed=seed,
        data=dict(name=file.name, place=place_of(file), rows=found.table.height), **found.facts(),
    )  # fmt: skip
    record, held = plain(record), plain(sketch(found.table.values, looks))
    kept = {RECORD: record, SKETCH: held}
    texts = {name: json.dumps(one, indent=2, ensure_ascii=False, allow_nan=False) + "\n" for name, one in kept.items()}
    if found.cloud is not None:
        stable = "too few rows to tell" if found.stability is None else str(found.stability)
        texts[REPORT] = groups_page(record, found.cloud, stable, next_commands(folder, file))
    path = os.path.realpath(folder)
    try:
        with new_folder(path) as new:
            tenfold.save(found.model, os.path.join(new, MODEL))
            for name, text in texts.items():
                Path(new, name).write_text(text, encoding="utf-8")
            put_folder(new, path)
    except OSError as reason:
        raise cannot_write(str(folder), reason) from None


def record_of(folder: Path) -> Facts:
    """What run.json holds of the groups of a table; nothing where it is not there, or not ours."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) and record.get("made_by") == MARK else {}


def groups_in(folder: Path) -> list[tuple[str, str]]:
    """What a folder with groups holds: titles and texts; nothing of another."""
    record = record_of(folder)
    try:
        sizes = ", ".join(f"{one['rows']:,}" for one in record["groups"])
        firm = "" if record["agreement"] is None else f"   agreement of halves {record['agreement']:.2f}"
        return [("GROUPS", f"{len(record['groups'])} of {sizes} rows of {record['data']['name']}{firm}")]
    except (KeyError, TypeError, ValueError, AttributeError):  # no groups, another version, or somebody wrote in it
        return []


class GroupModel:
    """Saved groups as what predicts: the number of the cluster, from 1."""

    role, target_ = "clusterer", COLUMN

    def __init__(self, pipeline: Any) -> None:
        self.pipeline = pipeline

    @property
    def columns(self) -> list[str]:
        return list(self.pipeline.steps[0][1]._used)

    def coded(self, table: Any) -> Any:
        return table

    def answers(self, table: pl.DataFrame) -> Array:
        return np.asarray(self.pipeline.predict(table)) + 1


def open_model(folder: Path) -> Any:
    """The model of a folder: of groups, or one that predicts a target."""
    if not record_of(folder):
        return open_run(folder)
    if not (folder / MODEL).exists():
        raise BadFile(f"{folder} holds no {MODEL}: run tenfold cluster again")
    return GroupModel(tenfold.load(folder / MODEL))
