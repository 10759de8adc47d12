"""Parameters that single trees and forests share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.random import RandomState

from tenfold.core.params import KW_ONLY, group, param
from tenfold.tree.bins import MOST_BINS, MOST_WIDE_BINS

SHARE = "or a share of the rows"
GAINS = ("gini", "entropy", "log_loss")
CRITERIA = {"log_loss": "entropy", "friedman_mse": "squared_error"}  # second names of criteria


def drawn_columns(default: float | str | None) -> Any:
    """The parameter `max_features`."""
    return param(
        default=default, above=0, one_of=("sqrt", "log2", None), doc="columns drawn for each node: a number, a share, or all"
    )


@group
class TreeOptions:
    """How far a tree grows, and what it is pruned to."""

    _: KW_ONLY
    max_depth: int | None = param(default=None, at_least=1, doc="largest depth of a tree; None: no limit")
    min_samples_split: int | float = param(default=2, above=0, doc=f"rows that a node needs to be split, {SHARE}")
    min_samples_leaf: int | float = param(default=1, above=0, doc=f"rows that a leaf needs, {SHARE}")
    min_weight_fraction_leaf: float = param(
        default=0.0, at_least=0, at_most=0.5, doc="share of the weight that a leaf needs"
    )
    max_features: int | float | str | None = drawn_columns(None)
    max_leaf_nodes: int | None = param(
        default=None, at_least=2, doc="most leaves of a tree; the best leaf is split first"
    )
    min_impurity_decrease: float = param(
        default=0.0, at_least=0, doc="loss of impurity that a split needs, by share of weight"
    )
    ccp_alpha: float = param(default=0.0, at_least=0, doc="price of a leaf when a tree is pruned")
    monotonic_cst: list[Any] | None = param(
        default=None, doc="−1, 0 or 1 for each column: the prediction falls or rises with it"
    )
    categorical_features: str | list[Any] | None = param(
        default="from_dtype", doc="columns of categories: 'from_dtype', a mask, numbers or names of columns, or None"
    )


@group
class ForestOptions(TreeOptions):
    """How many trees there are, and what is drawn for each."""

    n_estimators: int = param(default=100, at_least=1, doc="number of trees", before="max_depth")
    _: KW_ONLY
    bootstrap: bool = param(
        default=True, doc="draw rows for each tree; False: every tree has all rows", before="ccp_alpha"
    )
    oob_score: bool | str | Callable[..., Any] = param(
        default=False,
        doc="a score by name, or a function of (truth, prediction), for rows not seen; else no effect: it is always there",
        before="ccp_alpha",
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)", before="ccp_alpha")
    random_state: int | RandomState | None = param(default=None, doc="seed of what is drawn", before="ccp_alpha")
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()", before="ccp_alpha")
    warm_start: bool = param(
        default=False, doc="keep the trees of the last fit on the same rows and add more", before="ccp_alpha"
    )
    max_samples: int | float | None = param(
        default=None, above=0, doc="rows to draw: a number, a share, or None for all", before="monotonic_cst"
    )
    max_bins: int = param(
        default=MOST_BINS,
        at_least=2,
        at_most=MOST_WIDE_BINS,
        doc="most bins of a column of numbers; above 255 codes take two bytes and 3 to 4 times the time, and log losses of long "
        "tables fall a little; of categories 255",
    )
