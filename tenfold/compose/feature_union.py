"""Several transformers of the same rows, side by side."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.foreign import is_fitted_learner
from tenfold.compose.named import ByName, is_out, is_word, names_of
from tenfold.compose.ordinary_union import Part, is_word_or_out
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
    copies = False

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

    def _fitted_parts(self) -> list[Part]:
        if not self._ordinary:
            return super()._fitted_parts()
        everything = np.arange(vars(self).get("n_features_in_", 1))
        return [
            Part(name, None if is_word(one, "passthrough") else one, everything, False)
            for name, one, _ in self._entries() if not is_out(one)
        ]  # fmt: skip

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        if not self._ordinary:
            return super().get_feature_names_out(input_features)
        names = vars(self).get("feature_names_in_") if input_features is None else input_features
        width = vars(self).get("n_features_in_", 0)
        old = [f"x{j}" for j in range(width)] if names is None else names
        return self._prefixed(
            [(part.name, new) for part in self._fitted_parts() for new in self._names_made(part, old if part.learner is None else names)]
        )

    def __sklearn_is_fitted__(self) -> bool:
        members = [one for _, one, _ in self._entries() if not is_word_or_out(one)]
        return super().__sklearn_is_fitted__() or all(map(is_fitted_learner, members))

    def __getattr__(self, name: str) -> Any:
        if name in ("n_features_in_", "feature_names_in_") and vars(self).get("transformer_list"):
            return getattr(self.transformer_list[0][1], name)
        return super().__getattr__(name)

    @property
    def named_transformers(self) -> ByName:
        """The transformers by name, fitted ones after a fit."""
        return ByName(self._fitted_by_name() if "n_features_in_" in vars(self) and not self._ordinary else self._pairs())

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise KeyError("Only string keys are supported")
        return self.named_transformers[name]


def make_union(
    *transformers: Any, n_jobs: int | None = None, verbose: bool = False, verbose_feature_names_out: Any = True
) -> FeatureUnion:
    """A FeatureUnion whose transformers are named after their classes, in lower case, numbered where a class comes twice."""
    pairs = list(zip(names_of(transformers), transformers, strict=True))
    return FeatureUnion(pairs, n_jobs=n_jobs, verbose=verbose, verbose_feature_names_out=verbose_feature_names_out)
