"""The groups of a table: prepared, counted, described, and kept as a folder that `tenfold predict` takes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.app.run_folder import Facts, Kept, check_new, chosen, kinds_of, pipeline_of, prepared, write_folder
from tenfold.cluster.choose import ClusterChoice, choose_clusters
from tenfold.cluster.describe import Trait, telling, traits
from tenfold.cluster.stability import Stability, stability
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, kept_warnings
from tenfold.report.groups import Cloud, groups_page
from tenfold.selection.model.store import open_run
from tenfold.table.reading import pl
from tenfold.table.sample import read_sample
from tenfold.table.table import Table

KEPT = Kept("tenfold cluster", "--out", "holds the groups of")
COLUMN = "cluster"
MOST_TRAITS = 4
MOST, RESTARTS = 12, 10


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

    def facts(self) -> Facts:
        """What was found, as JSON has it."""
        rules = {one.rule: one.clusters for one in self.choice.rules}
        return dict(
            rows=self.table.height, clusters=len(self.groups) or 1,
            asked=self.asked, recommended=self.choice.clusters, why=self.choice.why, rules=rules,
            curves={name: curve.tolist() for name, curve in self.choice.table.items()},
            agreement=None if self.stability is None else self.stability.agreement,
            groups=[vars(group) | dict(traits=[vars(one) | dict(words=str(one)) for one in group.traits]) for group in self.groups],
        )  # fmt: skip


def groups_of(file: Path, clusters: int | None, columns: list[str], without: list[str], rows: int | None, seed: int) -> Groups:
    """Read, prepare, count and describe."""
    table = chosen(Table(read_sample(file, rows, seed)), columns, without, "group rows by")
    prepare = prepared(table)
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
    model, groups = pipeline_of(prepare, ("cluster", means)), _described(table, prepare, labels, k, found)
    return Groups(table, prepare, choice, clusters, groups, found, model, Cloud.of(Z, labels, seed))


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
    size = np.bincount(labels, minlength=k)
    some = traits(values, kinds_of(table), labels, k)
    again = np.full(k, np.nan) if found is None else found.again
    return [
        Group(i + 1, int(size[i]), float(size[i] / len(labels)), float(again[i]), telling(some[i], MOST_TRAITS))
        for i in range(k)
        if size[i]
    ]


# --- the folder ---


def next_commands(folder: Path, file: Path) -> list[str]:
    """What to type next, ready to paste."""
    there = shlex.quote(str(folder))
    return [f"tenfold predict {there} {shlex.quote(str(file))}     the group of each row", f"tenfold inspect {there}     what is inside"]


def write_groups(folder: Path, found: Groups, file: Path, seed: int) -> None:
    """Whole or not at all."""
    record = KEPT.record(found.table, found.prepare, file, seed, found.facts())
    stable = "too few rows to tell" if found.stability is None else str(found.stability)
    page = None if found.cloud is None else groups_page(record, found.cloud, stable, next_commands(folder, file))
    write_folder(folder, found.model, record, found.table, page)


def groups_in(folder: Path) -> list[tuple[str, str]]:
    """What a folder with groups holds: titles and texts; nothing of another."""
    record = KEPT.record_of(folder)
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

    def check_columns(self, known: Sequence[str], name: str) -> None:
        check_new(self.pipeline.steps[0][1], known, name)

    def coded(self, table: Any) -> Any:
        return table

    def predictions(self, table: pl.DataFrame) -> Array:
        return np.asarray(self.pipeline.predict(table)) + 1


def open_model(folder: Path) -> Any:
    """The model of a folder: of groups, or one that predicts a target."""
    return GroupModel(KEPT.model_in(folder)) if KEPT.record_of(folder) else open_run(folder)
