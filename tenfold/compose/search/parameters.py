"""The settings that a search tries: all combinations of given values, or draws from lists and distributions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

import numpy as np

from tenfold.core.errors import BadParameter, BadType, DataWarning, warn
from tenfold.core.random import legacy_generator
from tenfold.gate.check import short

Setting = dict[str, Any]

MOST_SHUFFLED = 1_000_000  # settings of a grid that are put in random order as a whole


class ParameterGrid:
    """All combinations of the values of each parameter; a list of grids is their union, one after the other.

    Parameters come in the order of their names, and the values of the last one vary fastest.

    >>> from tenfold import ParameterGrid
    >>> list(ParameterGrid({"alpha": [0.1, 1.0], "positive": [False]}))
    [{'alpha': 0.1, 'positive': False}, {'alpha': 1.0, 'positive': False}]
    """

    def __init__(self, param_grid: Any) -> None:
        self.param_grid = [
            {name: _listed("param_grid", name, values) for name, values in sorted(one.items())}
            for one in _mappings("param_grid", param_grid)
        ]

    def __len__(self) -> int:
        return sum(prod(map(len, one.values())) for one in self.param_grid)

    def __iter__(self) -> Iterator[Setting]:
        for one in self.param_grid:
            yield from (dict(zip(one, values, strict=True)) for values in product(*one.values()))

    def __getitem__(self, number: int) -> Setting:
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self)} settings, numbered from 0: {number} is not one of them")
        for one in self.param_grid:
            size = prod(map(len, one.values()))
            if number < size:
                break
            number -= size
        setting = {}
        for name, values in reversed(one.items()):
            number, place = divmod(number, len(values))
            setting[name] = values[place]
        return {name: setting[name] for name in one}


class ParameterSampler:
    """`n_iter` settings drawn at random: from lists, or from distributions that have a method `rvs`, as SciPy's do.

    Where all are lists, no setting is drawn twice. Of several mappings one is drawn for each setting.

    >>> from scipy.stats import uniform
    >>> from tenfold import ParameterSampler
    >>> drawn = list(ParameterSampler({"alpha": uniform(0, 10), "positive": [False, True]}, 3, random_state=0))
    >>> len(drawn), all(0 <= one["alpha"] <= 10 for one in drawn)
    (3, True)
    """

    def __init__(self, param_distributions: Any, n_iter: int, *, random_state: Any = None) -> None:
        self.param_distributions: list[dict[str, Any]] = [
            {name: values if _draws(values) else _listed("param_distributions", name, values) for name, values in sorted(one.items())}
            for one in _mappings("param_distributions", param_distributions)
        ]
        self.n_iter, self.random_state = n_iter, random_state

    @property
    def _finite(self) -> bool:
        """Whether there is a fixed number of settings."""
        return not any(_draws(values) for one in self.param_distributions for values in one.values())

    def __len__(self) -> int:
        return min(self.n_iter, len(ParameterGrid(self.param_distributions))) if self._finite else self.n_iter

    def __iter__(self) -> Iterator[Setting]:
        rng = legacy_generator(self.random_state)
        if self._finite:
            grid = ParameterGrid(self.param_distributions)
            if len(grid) < self.n_iter:
                warn(
                    f"The total space of parameters {len(grid)} is smaller than n_iter={self.n_iter}. Running {len(grid)} iterations. "
                    "For exhaustive searches, use GridSearchCV.",
                    DataWarning,
                )
            yield from (grid[number] for number in _without_repeats(len(grid), len(self), rng))
            return
        for _ in range(self.n_iter):
            one = self.param_distributions[rng.choice(len(self.param_distributions))]
            yield {
                name: values.rvs(random_state=rng) if _draws(values) else values[rng.randint(len(values))]
                for name, values in one.items()
            }


def _without_repeats(n: int, count: int, rng: np.random.RandomState) -> list[int]:
    """`count` of the numbers 0, ..., n − 1, none of them twice; all of them in order."""
    if count == n:
        return list(range(n))
    if n <= MOST_SHUFFLED:
        return [int(i) for i in rng.permutation(n)[:count]]
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        drawn.setdefault(int(rng.randint(n)))
    return list(drawn)


def _draws(values: Any) -> bool:
    """Whether this is a distribution: what has a method `rvs`, as documented for users."""
    return callable(getattr(values, "rvs", None))


def _mappings(owner: str, given: Any) -> list[Mapping[str, Any]]:
    what = f"Parameter {owner.removeprefix('param_').removesuffix('s')}"
    if not isinstance(given, (Mapping, list, tuple)) or (not isinstance(given, Mapping) and not given):
        raise BadType(
            f"{what} should be a dict or a list, got: {given!r} of type {type(given).__name__}: {owner} must be a dict of values by "
            "parameter, as {'alpha': [0.1, 1.0]}, or a list of such dicts"
        )
    many = [given] if isinstance(given, Mapping) else list(given)
    for one in many:
        if not isinstance(one, Mapping):
            raise BadType(f"{what} is not a dict ({one!r}): {owner} holds dicts of values by parameter")
        if not all(isinstance(name, str) for name in one):
            raise BadType(f"{what} {short(one)}: the names of parameters must be texts")
    return many


def _listed(owner: str, name: str, values: Any) -> list[Any]:
    """The values of a parameter; NumPy's numbers as Python's."""
    what = f"Parameter {owner.removeprefix('param_').removesuffix('s')} for parameter {name!r}"
    if isinstance(values, np.ndarray):
        if values.ndim > 1:
            raise BadParameter(f"{what}: the array should be one-dimensional, got one of the shape {values.shape}")
        values = values.tolist()
    if isinstance(values, (str, bytes, Mapping)) or not np.iterable(values):
        kinds = "a list or a numpy array" if owner == "param_grid" else "iterable or a distribution, a list of values"
        raise BadType(
            f"{owner}: {what} needs to be {kinds}, but got {values!r} (of type {type(values).__name__}) instead. Single values need to "
            f"be wrapped in a list with one element: [{short(values)}]"
        )
    found = [one.item() if isinstance(one, np.generic) else one for one in values]
    if not found:
        raise BadParameter(f"{what} need to be a non-empty sequence, got: []: it is an empty list; give at least one value")
    return found
