"""The ways of `tenfold reduce` from many columns to few, one line each, and how many axes are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tenfold
from tenfold.app.reduce_number import Spectrum
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter

MAP = 2  # axes of a map
RULES = ("parallel",)
LARGE = 0.8  # share of a first axis beside which chance says little of the next


@dataclass(frozen=True)
class Method:
    """A learner that makes fewer columns, and what must be known of it."""

    says: str  # its name, and after a colon what it does
    made: Callable[[int, int], Any]  # the learner, by the number of axes and the seed
    positive: bool = False  # takes no numbers below zero
    map: bool = False  # rows that are near stay near; its axes have no meaning by themselves
    new: bool = True  # places new rows
    most_rows: int | None = None  # where its cost grows faster than the rows


METHODS = {
    "pca": Method("principal components: uncorrelated axes that explain most", lambda k, seed: tenfold.PCA(k)),
    "isomap": Method(
        "Isomap: a map that keeps distances along the rows",
        lambda k, seed: tenfold.Isomap(n_neighbors=10, n_components=k), map=True, most_rows=4000,
    ),
    "lle": Method(
        "locally linear embedding: a map that keeps how a row lies among its nearest",
        lambda k, seed: tenfold.LocallyLinearEmbedding(n_neighbors=15, n_components=k, method="modified", random_state=seed), map=True,
        most_rows=10_000,
    ),
    "mds": Method(
        "multidimensional scaling: a map that keeps distances, large ones first",
        lambda k, seed: tenfold.MDS(k, random_state=seed), map=True, most_rows=4000,
    ),
    "tsne": Method(
        "t-SNE: a map that keeps neighbours, and nothing of how far groups are apart",
        lambda k, seed: tenfold.TSNE(k, method="exact" if k > 3 else "barnes_hut", random_state=seed), map=True, most_rows=20_000,
    ),
}  # fmt: skip


def method_named(name: str) -> Method:
    if name not in METHODS:
        raise BadParameter(f"--method {name}: must be one of {', '.join(METHODS)}")
    return METHODS[name]


def suited(learner: Any, rows: int) -> Any:
    """With no more neighbours than a table of so many rows has groups of."""
    if "perplexity" in learner.get_params():
        learner.set_params(perplexity=min(learner.perplexity, max((rows - 1) / 3, 1.0)))
    return learner


def method_names(incomplete: str) -> list[str]:
    """For the shell's completion."""
    return [name for name in METHODS if name.startswith(incomplete.lower())]


@dataclass(frozen=True)
class Asked:
    """How many axes are wanted: a number, a share of the variance, or by a rule."""

    number: int | None = None
    share: float | None = None
    rule: str | None = None

    @classmethod
    def of(cls, text: str | None, method: Method) -> Asked:
        """From what was typed; nothing: two for a map, else by parallel analysis."""
        if text is None:
            return cls(number=MAP) if method.map else cls(rule="parallel")
        if text in RULES and not method.map:
            return cls(rule=text)
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if value >= 1 and value == int(value):
            return cls(number=int(value))
        if method.map:
            raise BadParameter(f"--components {text}: must be a number of axes, such as 2, for a map")
        if 0 < value < 1:
            return cls(share=value)
        raise BadParameter(f"--components {text}: must be a number of at least 1, a share between 0 and 1, or {' or '.join(RULES)}")

    def count(self, spectrum: Spectrum, Z: Array) -> tuple[int, str]:
        """How many axes, and why, in words."""
        most = min(Z.shape[1], len(Z) - 1)
        beyond = spectrum.beyond
        told = f"{'no axis explains' if not beyond else 'one explains' if beyond == 1 else f'{beyond} explain'} {CHANCE}"
        if self.rule == "parallel":
            hidden = beyond == 1 and spectrum.shares[0] > LARGE
            return beyond, told + ("; one so large may hide small ones, which --components 0.99 shows" if hidden else "")
        if self.number is not None:
            if self.number > most:
                raise BadParameter(f"--components {self.number}: {len(Z)} rows of {Z.shape[1]} prepared columns have at most {most} axes")
            return self.number, f"as asked; {told}"
        assert self.share is not None
        reached = tenfold.PCA(self.share).fit(Z).n_components_
        return max(1, reached), f"as many as explain {100 * self.share:g} % of the variance; {told}"


CHANCE = "more than chance makes of columns that have nothing to do with one another (parallel analysis)"
