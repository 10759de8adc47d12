"""Kinds of input other than rows of fixed width: declared on the class, checked by the gate, cut into blocks."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import tenfold
from tenfold.base.estimator import Classifier, Estimator, Regressor
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadType
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import estimator
from tenfold.core.stats import Counts


@estimator
class Lengths(Classifier, Estimator):
    """Classes of texts by their mean length."""

    accepts: ClassVar[str] = "documents"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        stats = yield self._sum
        return dict(length_=stats.weight[0] / stats.weight[1])

    def _sum(self, block: Block) -> Counts:
        k, length = len(self.classes_), np.array([len(text) for text in block.X])
        return Counts(np.array([np.bincount(block.y, weights=block.w * one, minlength=k) for one in (length, 1)]))

    def _scores(self, X: Any) -> Array:
        return np.asarray(-np.abs(np.array([len(text) for text in X])[:, None] - self.length_))


TEXTS = ["a", "bb", "a b", "long enough", "a longer text", "the longest of all texts"]
SIZES = ["short"] * 3 + ["long"] * 3


@pytest.mark.parametrize("kind", [list, np.array, tuple], ids=["list", "array", "tuple"])
def test_documents(kind: Any) -> None:
    model = Lengths().fit(kind(TEXTS), SIZES)
    assert model.predict(kind(TEXTS)).tolist() == SIZES and model.n_features_in_ == 1
    weighted, repeated = Lengths().fit(TEXTS, SIZES, [2, 1, 0, 1, 1, 1]), Lengths().fit(["a", *TEXTS[:2], *TEXTS[3:]], SIZES)
    np.testing.assert_allclose(weighted.length_, repeated.length_, rtol=1e-12)


def test_documents_are_cross_validated() -> None:
    texts, sizes = TEXTS * 10, SIZES * 10
    assert tenfold.cross_validate(Lengths(), texts, sizes, folds=5).mean == 1.0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("one text", "one a row"),
        (["a", None, "b"], "row 1 is missing"),
        (["a", 3.0], "row 1 is a float"),
        ([], "there are no rows"),
        (3, "one a row"),
    ],
)
def test_documents_that_are_none(X: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Lengths().fit(X, ["a"] * (len(X) if isinstance(X, list) else 1))


@estimator
class Steps(Regressor, Estimator):
    """The mean of all steps of all sequences."""

    accepts: ClassVar[str] = "sequences"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        sequences, _, _ = yield Keep()
        return dict(mean_=np.concatenate(list(sequences)).mean(axis=0))

    def _predict(self, X: Any) -> Array:
        return np.array([(one - self.mean_).sum() for one in X])


def test_sequences_of_different_lengths() -> None:
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(n, 2)) for n in (3, 1, 5)]
    model = Steps().fit(sequences, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(model.mean_, np.concatenate(sequences).mean(axis=0), rtol=1e-12)
    assert model.n_features_in_ == 2 and model.predict(sequences).shape == (3,)
    assert Steps().fit([[1.0, 2.0], [3.0]], [0, 1]).mean_ == pytest.approx([2.0])  # of one column
    for bad, message in (
        ([np.ones((2, 2)), np.ones((2, 3))], "sequence 1 has 3 columns, those before it 2"),
        ([np.ones((2, 2)), np.full((2, 2), np.nan)], "sequence 1 holds NaN"),
        ([np.ones((0, 2))], "at least one step"),
        ([["a"]], "not made of numbers"),
    ):
        with pytest.raises(BadInput, match=message):
            Steps().fit(bad, np.zeros(len(bad)))
    with pytest.raises(BadInput, match="3 features, but Steps is expecting 2"):
        model.predict([np.ones((2, 3))])


@estimator
class Brightness(Regressor, Estimator):
    """Images by their mean."""

    accepts: ClassVar[str] = "images"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        stats = yield lambda block: Counts(block.X.sum(axis=0))
        return dict(mean_=stats.weight / source.n_rows)

    def _predict(self, X: Any) -> Array:
        return np.asarray((X - self.mean_).mean(axis=tuple(range(1, X.ndim))))


@pytest.mark.parametrize("shape", [(9, 4, 5), (9, 4, 5, 3)])
def test_images(shape: tuple[int, ...]) -> None:
    images = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
    model = Brightness().fit(images, np.zeros(9))
    np.testing.assert_allclose(model.mean_, images.mean(axis=0), rtol=1e-12)
    assert model.n_features_in_ == np.prod(shape[1:]) and model.predict(images[:2]).shape == (2,)
    spoiled = images.astype(float)
    spoiled[4, 0, 0] = np.inf
    with pytest.raises(BadInput, match="image 4 holds"):
        Brightness().fit(spoiled, np.zeros(9))
    with pytest.raises(BadInput, match="height, width"):
        Brightness().fit(np.ones((3, 3)), np.zeros(3))


@estimator
class Nearest(Classifier, Estimator):
    """The class of the nearest row, from a square table of distances."""

    accepts: ClassVar[str] = "pairs"
    kind: ClassVar[str] = "keeps rows"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        _, y, _ = yield Keep()
        return dict(codes_=y)

    def _scores(self, X: Any) -> Array:
        return np.eye(len(self.classes_))[self.codes_[X.argmin(axis=1)]]


def test_pairs_are_sliced_both_ways() -> None:
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(60, 2)), np.arange(60) % 2
    points[labels == 1] += 4
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    model = Nearest().fit(distances, labels)
    assert (model.predict(distances[:7]) == labels[:7]).all() and model.n_features_in_ == 60
    folds = [(np.setdiff1d(np.arange(60), test), test) for test in np.array_split(rng.permutation(60), 4)]
    found = tenfold.cross_val_predict(Nearest(), distances, labels, folds=folds)
    for train, test in folds:
        by_hand = labels[train][distances[np.ix_(test, train)].argmin(axis=1)]
        np.testing.assert_array_equal(found[test], by_hand)
    weighted = Nearest().fit(distances, labels, np.arange(60) < 50)
    assert weighted.n_features_in_ == 50
    with pytest.raises(BadInput, match="square"):
        Nearest().fit(distances[:, :5], labels)
    with pytest.raises(BadInput, match="expecting 60"):
        model.predict(distances[:3, :5])


@estimator
class Same(Regressor, Estimator):
    """Any objects: how often one was there."""

    accepts: ClassVar[str] = "objects"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        objects, _, _ = yield Keep()
        return dict(objects_=list(objects))

    def _predict(self, X: Any) -> Array:
        return np.array([float(self.objects_.count(one)) for one in X])


def test_objects() -> None:
    model = Same().fit([{1}, "a", (2, 3), {1}], [1.0, 2, 3, 4])
    assert model.predict([{1}, "b", (2, 3)]).tolist() == [2, 0, 1]


def test_rows_in_files_are_no_documents() -> None:
    with pytest.raises(BadType, match="documents, one a row"):
        Lengths().fit("table.csv", "y")
