"""The search alone, as a learner."""

from __future__ import annotations

from typing import ClassVar

from tenfold.core.params import estimator
from tenfold.neighbors.kept import AsksAround, AsksNearest


@estimator
class NearestNeighbors(AsksAround, AsksNearest):
    """NearestNeighbors: the rows of a table that are nearest to others.

    Model       the k rows of least distance, or all at most a radius away; of equal distance in the order of the rows
    Objective   none: rows are kept
    Algorithm   that of NeighborIndex: a k-d tree for few columns, else all rows are looked at; both find the same
    Cost        O(n p log n) to build a tree, O(log n) for a query while columns are few; all rows: O(n p) for a query
    Fails when  more neighbours are asked for than there are rows, or a distance is NaN (refused)
    Reference   Friedman, Bentley & Finkel 1977

    Example
    -------
    >>> import tenfold
    >>> search = tenfold.NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [5.0]])
    >>> distances, rows = search.kneighbors([[0.4]])
    >>> rows.tolist(), distances.round(1).tolist()
    ([[0, 1]], [[0.4, 0.6]])
    """

    exempt: ClassVar[dict[str, str]] = {
        "pure_predictions": "it predicts nothing: neighbours are told by their numbers, which are those of the table that was given",
    }
