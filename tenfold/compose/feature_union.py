"""Several transformers of the same rows, side by side."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.compose.named import is_out, names_of
from tenfold.compose.union import Union
from tenfold.core.data import Array, Source
from tenfold.core.params import KW_ONLY, estimator, param


@estimator
class FeatureUnion(Union):
    """FeatureUnion: what several transformers make of the same rows, side by side.

    Model       z = [w₁ t₁(x), ..., w_T t_T(x)]
    Objective   that of each transformer
    Algorithm   all transformers are fitted side by side: one reading of the rows serves all of them
    Cost        the sum of the transformers; as many readings of the rows as the longest of them needs
    Fails when  a transformer cannot take a column (refused by name)
    Reference   Buitinck et al. 2013 (the interface)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> both = tenfold.FeatureUnion([("scaled", tenfold.StandardScaler()), ("axis", tenfold.PCA(1))])
    >>> both.fit_transform(X).shape
    (6, 3)
    >>> both.get_feature_names_out().tolist()
    ['scaled__x0', 'scaled__x1', 'axis__pca0']
    """

    listed: ClassVar[str] = "transformer_list"

    transformer_list: list[Any] = param(doc="list of (name, transformer); 'drop' leaves one out, 'passthrough' is X", before="n_jobs")
    _: KW_ONLY

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.prepare.scale import StandardScaler
        from tenfold.reduce.pca import PCA

        return [
            {"transformer_list": [("scaled", StandardScaler()), ("axes", PCA(2))]},
            {"transformer_list": [("x", "passthrough"), ("off", "drop"), ("axes", PCA(2))], "transformer_weights": {"x": 2.0}},
        ]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        from tenfold.prepare.scale import StandardScaler
        from tenfold.reduce.pca import PCA

        return {"transformer_list": [("scaled", StandardScaler()), ("axes", PCA())]}

    @property
    def missing(self) -> bool:  # type: ignore[override]
        return self._all_take("missing")

    @property
    def categorical(self) -> bool:  # type: ignore[override]
        return self._all_take("categorical")

    def _entries(self) -> list[tuple[str, Any, Any]]:
        return [(name, one, None) for name, one in self._pairs()]

    def _places(self, source: Source) -> list[Array]:
        return [np.arange(0 if is_out(one) else source.n_features) for _, one, _ in self._entries()]

    @property
    def named_transformers(self) -> dict[str, Any]:
        """The transformers by name, fitted ones after a fit."""
        return self._fitted_by_name() if "n_features_in_" in vars(self) else dict(self._pairs())


def make_union(
    *transformers: Any, n_jobs: int | None = None, verbose: bool = False, verbose_feature_names_out: Any = True
) -> FeatureUnion:
    """A FeatureUnion whose transformers are named after their classes, in lower case, numbered where a class comes twice."""
    pairs = list(zip(names_of(transformers), transformers, strict=True))
    return FeatureUnion(pairs, n_jobs=n_jobs, verbose=verbose, verbose_feature_names_out=verbose_feature_names_out)
