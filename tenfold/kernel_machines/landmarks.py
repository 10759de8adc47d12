"""Features that stand for a kernel: products of them are its values, nearly. Who learns from them learns from the kernel."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.estimator import Estimator, Transformer
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of, seed_of
from tenfold.core.stats import Spread
from tenfold.core.threads import patiently
from tenfold.kernel_machines.kernelized import Kernelized, mirrored
from tenfold.solve.linalg import rounding
from tenfold.solve.sketch import Sample


def drawn(block: Block, rows: int, seed: int) -> Sample:
    """Rows drawn by a hash of their values: the same ones wherever they stand."""
    return Sample.of(block.X, block.w, rows, seed)


def root_inverse(K: Array) -> Array:
    """K^(−1/2); of directions in which K is rounding, nothing."""
    values, vectors = patiently(np.linalg.eigh, K)
    sound = values > rounding(len(K)) * float(values.max(initial=0.0))
    return np.asarray((vectors[:, sound] / np.sqrt(values[sound])) @ vectors[:, sound].T)


@estimator
class Nystroem(Transformer, Kernelized):
    """Nystroem: columns whose products are the values of a kernel, by the kernels with some rows.

    Model       z(x) = M^(−1/2) (k(x, l₁), ..., k(x, lₘ)),  Mᵢⱼ = k(lᵢ, lⱼ) of m rows l;  z(x)·z(y) ≈ k(x, y), and = for these rows
    Objective   none: the rows are drawn (by a hash of their values: the same from memory, blocks or a stream)
    Algorithm   one pass, and an eigendecomposition of M
    Cost        O(n p + m³) time, O(m (m + p)) memory, one pass; each row O(m (m + p))
    Fails when  m rows do not span what the kernel sees: the learner behind it then sees less
    Reference   Williams & Seeger 2001

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 9, 200)[:, None]
    >>> kernel = tenfold.Nystroem(kernel="rbf", n_components=20, random_state=0)
    >>> model = tenfold.Pipeline([("kernel", kernel), ("ridge", tenfold.Ridge(1e-6))])
    >>> round(model.fit(x, np.sin(x[:, 0])).score(x, np.sin(x[:, 0])), 3)
    1.0
    """

    components_: Array = learned("float(m,p)", "the rows that were drawn", rows=True)
    normalization_: Array = learned("float(m,m)", "M^(−1/2), which the kernels of a row are multiplied by")

    double: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {"column_order": "rows are drawn by a hash, which reads the columns in their order"}

    kernel: Any = param(default="rbf", doc="as KernelRidge's, but for 'precomputed'")
    _: KW_ONLY
    coef0: float | None = param(default=None, doc="constant of 'poly' and 'sigmoid'; None: 1", before="degree")
    degree: float | None = param(default=None, at_least=0, doc="power of 'poly'; None: 3")
    n_components: int = param(default=100, at_least=1, doc="number of rows that are drawn")
    random_state: int | RandomState | None = param(default=None, doc="seed of the draw")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    @property
    def accepts(self) -> str:
        return "rows"

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"gamma": 0.05, "n_components": 8, "random_state": 0}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        self._check_kernel(precomputed=False)
        sample = yield partial(drawn, rows=self.n_components, seed=seed_of(generator_of(self)))
        rows = sample.rows
        if len(rows) < self.n_components:
            warn(
                f"n_components > n_samples. This is not possible: n_components was set to {len(rows)}, the different rows that there are",
                DataWarning,
                stacklevel=2,
            )
        return dict(components_=rows, normalization_=root_inverse(mirrored(self._lower(rows))))

    def _transform(self, X: Any) -> Array:
        found = self._between(ops.dense(X).astype(np.float64, copy=False), self.components_) @ self.normalization_
        return np.asarray(found.astype(X.dtype, copy=False))

    def _names_out(self) -> list[str]:
        return [f"nystroem{i}" for i in range(len(self.components_))]

    def _objection(self) -> str | None:
        return self._misfit(self.components_)


@estimator
class RBFSampler(Transformer, Estimator):
    """RBFSampler: random waves whose products are those of a Gaussian kernel, nearly.

    Model       z(x) = √(2/m) cos(W x + b),  W ~ N(0, 2γ),  b ~ U(0, 2π);  E z(x)·z(y) = exp(−γ ‖x − y‖²)
    Objective   none: the waves are drawn
    Algorithm   none but the draw; γ = "scale" looks at the variance of the columns
    Cost        O(m p) for each row
    Fails when  m is small: the error of a product falls as 1/√m
    Reference   Rahimi & Recht 2007

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> Z = tenfold.RBFSampler(gamma=0.5, n_components=5000, random_state=0).fit_transform(X)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-1.0)) < 0.03)
    True
    """

    random_weights_: Array = learned("float(p,m)", "W: the direction of each wave")
    random_offset_: Array = learned("float(m)", "b: where each wave begins")

    double: ClassVar[bool] = True
    sparse: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {"column_order": "a wave is drawn for each column by its place"}

    _: KW_ONLY
    gamma: float | str = param(default=1.0, at_least=0, one_of=("scale",), doc="γ; 'scale': 1 / (columns times their variance)")
    n_components: int = param(default=100, at_least=1, doc="number of waves that are drawn")
    random_state: int | RandomState | None = param(default=None, doc="seed of the waves")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"n_components": 8, "random_state": 0}, {"gamma": "scale", "n_components": 5, "random_state": 0}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        spread = yield _spread
        gamma, p = self.gamma, source.n_features
        if isinstance(gamma, str):
            mean = spread.mean[0]
            variance = float(np.mean(spread.scatter[0] / spread.weight[0] + (mean - mean.mean()) ** 2))
            gamma = 1.0 / (p * variance) if variance > 0 else 1.0
        rng = generator_of(self)
        weights = np.sqrt(2 * gamma) * rng.normal(size=(p, self.n_components))
        return dict(random_weights_=weights, random_offset_=rng.uniform(0, 2 * np.pi, self.n_components))

    def _transform(self, X: Any) -> Array:
        waves = np.cos(np.asarray(X @ self.random_weights_) + self.random_offset_)
        return np.asarray((np.sqrt(2 / len(self.random_offset_)) * waves).astype(X.dtype, copy=False))

    def _names_out(self) -> list[str]:
        return [f"rbfsampler{i}" for i in range(len(self.random_offset_))]


def _spread(block: Block) -> Spread:
    return Spread.of(ops.dense(block.X), block.w)
