"""How predictions change along single columns, and where two of them act together."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.engine import each
from tenfold.evaluate.explain.dependence import accumulated_effects
from tenfold.evaluate.explain.response import Response, altered
from tenfold.selection.explain.slices import level_name
from tenfold.selection.model.table_model import TableModel

Facts = dict[str, Any]

WIDE = 1000  # columns, from where pairs are not looked at
BINS, MOST_LEVELS, RUG = 20, 12, 60
PAIR_POINTS = 40  # of a pair of columns
MOST_CLASSES = 5  # whose chances are drawn


def kinds_of(model: TableModel) -> dict[str, str]:
    """The columns whose numbers are not plain ones: days since 1970-01-01 of a date, and what the words of a text score."""
    scores = {str(name): "text" for text in model.texts or () for name in text.names_}
    return scores | {column.name: "date" for column in model.coder.as_columns() if column.kind == "date"}


def with_kind(one: Facts, kinds: dict[str, str]) -> Facts:
    """The facts along a column, with the kind of its numbers where they are not plain ones."""
    return one | dict(kind=kinds[one["column"]]) if one["column"] in kinds else one


def of_positive(response: Response, model: Any, positive: str | None) -> Response:
    """The response, of two classes the chance of the positive one."""
    if model.role != "classifier" or len(response.outputs) != 1 or positive != str(model.classes_[0]):
        return response
    return replace(response, of=lambda rows: 1 - response.of(rows), outputs=[f"P({positive})"])


def shown_outputs(response: Response, model: Any, y: Array) -> list[int]:
    """The outputs that are drawn: of many classes the most frequent."""
    if len(response.outputs) <= 1:
        return [0]
    counts = [int((y == label).sum()) for label in model.classes_]
    return sorted(np.argsort(-np.array(counts), kind="stable")[:MOST_CLASSES].tolist())


def effect_of(response: Response, j: int, outputs: list[int], rng: np.random.Generator) -> Facts | None:
    """How predictions change along a column: accumulated effects of a number, means with each level of a category."""
    column, levels = response.X[:, j], response.categories[j]
    here = column[~np.isnan(column)]
    facts: Facts = dict(column=response.columns[j], outputs=[response.outputs[k] for k in outputs])
    if levels is not None:
        codes, counts = np.unique(here, return_counts=True)
        most = codes[np.argsort(-counts, kind="stable")][:MOST_LEVELS]
        if len(most) < 2:
            return None
        w = np.full(len(response.X), 1 / len(response.X))
        means = altered(response, [j], most[:, None], w)
        share = np.array([(here == code).sum() for code in most])
        means = means - np.average(means, axis=0, weights=share)
        return facts | dict(
            levels=[level_name(levels, code) for code in most],
            rows=share.tolist(),
            effect=means[:, outputs].T.tolist(),
        )
    if len(np.unique(here)) < 2:
        return None
    found = accumulated_effects(response.of, response.X, j, bins=BINS)
    rug = np.sort(here if len(here) <= RUG else rng.choice(here, RUG, replace=False))
    return facts | dict(
        grid=found.grid_values[0].tolist(),
        effect=found.average[outputs].tolist(),
        rug=np.round(rug, 12).tolist(),
    )


def interactions(response: Response, columns: list[int], rng: np.random.Generator) -> list[Facts]:
    """Friedman's H² of each pair: the share of what two columns do together that is not the sum of what each does alone."""
    if len(columns) < 2 or len(response.columns) > WIDE:
        return []
    some = rng.permutation(len(response.X))[:PAIR_POINTS]
    few = Response(response.of, response.X[some], response.columns, response.outputs, response.categories)
    w = np.full(len(some), 1 / len(some))

    def dependence(which: list[int]) -> Array:
        found = altered(few, which, few.X[:, which], w)
        return np.asarray(found - found.mean(axis=0))

    couples = list(combinations(columns, 2))
    found = each(dependence, [*([j] for j in columns), *map(list, couples)])
    alone, together = dict(zip(columns, found, strict=False)), found[len(columns) :]
    pairs = []
    for (i, j), both in zip(couples, together, strict=True):
        size = float((both**2).sum())
        share = float(((both - alone[i] - alone[j]) ** 2).sum()) / size if size > 0 else 0.0
        names = [response.columns[i], response.columns[j]]
        pairs.append(dict(columns=names, share=min(share, 1.0), size=float(np.sqrt((both**2).mean()))))
    return sorted(pairs, key=lambda pair: -pair["share"] * pair["size"])
