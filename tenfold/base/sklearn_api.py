"""What scikit-learn and Python expect of an object that learns: parameters, tags, repr, output containers."""

from __future__ import annotations

import sys
from copy import deepcopy
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from tenfold.base.metadata import MetadataRequests
from tenfold.base.traits import Traits
from tenfold.core import ops
from tenfold.core.errors import BadParameter
from tenfold.core.ops import Array
from tenfold.core.params import Domain, domains, written_domains

Kind = TypeVar("Kind")


class SklearnApi(MetadataRequests, Traits):
    """Abstract: the part of a learner that has nothing to do with learning."""

    _domains: ClassVar[dict[str, Domain]] = {}

    def __init_subclass__(cls, **more: Any) -> None:
        """A subclass of the user that writes its own constructor has the parameters of that."""
        super().__init_subclass__(**more)
        if "__init__" in vars(cls):
            cls._domains = written_domains(cls)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep`, those of learners inside too, as `step__name`."""
        params = {name: getattr(self, name) for name in domains(self)}
        if deep:
            for name, inner in self._parts_inside().items():
                params[name] = inner
                if hasattr(inner, "get_params"):
                    params.update({f"{name}__{key}": value for key, value in inner.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; `step__name` reaches into a learner inside."""
        own, inner, nested = domains(self), dict[str, Any](), dict[str, dict[str, Any]]()
        for key, value in params.items():
            name, mark, rest = key.partition("__")
            if mark:
                nested.setdefault(name, {})[rest] = value
            elif name in own:
                setattr(self, name, value)
            else:
                inner[name] = value
        for name, value in inner.items():  # what follows for a learner inside is for the new one
            if name not in self._parts_inside():
                raise self._unknown_parameter(name)
            self._replace_inside(name, value)
        inside = self._parts_inside() if nested else {}
        for name, some in nested.items():
            if name not in inside:
                raise self._unknown_parameter(name)
            inside[name].set_params(**some)
        return self

    def _unknown_parameter(self, name: str) -> BadParameter:
        return BadParameter(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {sorted(domains(self))!r}.")

    def _parts_inside(self) -> dict[str, Any]:
        """Learners held as parameters, by name."""
        return {
            name: value
            for name in domains(self)
            if hasattr(value := getattr(self, name), "get_params") and not isinstance(value, type)
        }

    def _replace_inside(self, name: str, learner: Any) -> None:
        raise BadParameter(f"{type(self).__name__} holds no learner {name!r}")

    def __repr__(self) -> str:
        changed = [
            f"{name}={getattr(self, name)!r}"
            for name, d in domains(self).items()
            if not same(getattr(self, name), d.default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        import html

        fitted = "fitted" if "n_features_in_" in vars(self) else "not fitted"
        return f"<pre>{html.escape(repr(self))}   <i>{self.kind}, {fitted}</i></pre>"

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags, TransformerTags

        tags = Tags(
            estimator_type=None if self.role == "transformer" else self.role,
            target_tags=TargetTags(
                required=self.target != "none",
                multi_output=self.multi_output,
                single_output=True,
                positive_only=self.target_range[0] >= 0,
            ),
            input_tags=InputTags(
                sparse=bool(self.sparse), allow_nan=self.missing, categorical=self.categorical, positive_only=self.nonnegative,
                pairwise=self.accepts == "pairs",
            ),
        )
        if self.role == "classifier":
            tags.classifier_tags = ClassifierTags()
        if self.role == "regressor":
            tags.regressor_tags = RegressorTags()
        if hasattr(self, "transform"):
            tags.transformer_tags = TransformerTags(preserves_dtype=["float64", "float32"])
        return tags

    # --- containers of transformed rows ---

    def set_output(self, *, transform: str | None = None) -> Self:
        """Let `transform` return "pandas" or "polars" frames, or arrays ("default")."""
        if transform not in (None, "default", "pandas", "polars"):
            raise BadParameter(f"set_output(transform={transform!r}): must be 'default', 'pandas' or 'polars'")
        if transform is not None:
            vars(self)["_output"] = transform
        return self

    @property
    def _sklearn_output_config(self) -> dict[str, str]:
        """What `set_output` was told, as scikit-learn's `clone` reads and writes it."""
        if "_output" not in vars(self):
            raise AttributeError("set_output was not called")
        return {"transform": vars(self)["_output"]}

    @_sklearn_output_config.setter
    def _sklearn_output_config(self, config: dict[str, str]) -> None:
        self.set_output(transform=config.get("transform"))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        from tenfold.base.output import names_out

        return names_out(self, input_features)

    def _container(self) -> str:
        """The container of transformed rows: as `set_output` said, else as scikit-learn's configuration says where that is loaded."""
        chosen: str | None = vars(self).get("_output")
        if chosen is not None:
            return chosen
        theirs = sys.modules.get("sklearn")
        return "default" if theirs is None else str(theirs.get_config().get("transform_output", "default"))

    def _in_format(self, rows: Any, X: Any) -> Any:
        """Sparse rows by columns where X is so."""
        return rows.tocsc() if ops.is_sparse(rows) and getattr(X, "format", None) == "csc" else rows

    def _dressed(self, rows: Any, X: Any) -> Any:
        """The transformed rows in the container the user asked for."""
        rows, container = self._in_format(rows, X), self._container()
        if container == "default":
            return rows
        from tenfold.base.output import framed

        return framed(rows, container, [str(name) for name in self.get_feature_names_out()], getattr(X, "index", None))


def same(a: Any, b: Any) -> bool:
    """Equality of parameter values: arrays element by element, NaN equal to NaN."""
    if a is b:
        return True
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    try:
        return bool(a == b) or bool(a != a and b != b)
    except (TypeError, ValueError):
        return bool(np.array_equal(np.asarray(a), np.asarray(b)))


def fresh(learner: Kind) -> Kind:
    """An unfitted learner with the same parameters; learners inside are made fresh too."""
    made: Kind = _fresh(learner)
    return made


PLAIN = frozenset((type(None), bool, int, float, str))  # what most parameters are: nothing to copy


def _fresh(value: Any) -> Any:
    if type(value) in PLAIN:
        return value
    if isinstance(value, list):
        return [_fresh(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_fresh(item) for item in value)
    if isinstance(value, dict):
        return {key: _fresh(item) for key, item in value.items()}
    if not isinstance(value, SklearnApi):
        return _copy_of(value)
    if value.frozen:
        return value
    made = type(value)(**{name: _fresh(getattr(value, name)) for name in domains(value)})
    if "_output" in vars(value):
        vars(made)["_output"] = vars(value)["_output"]
    if "_metadata_request" in vars(value):
        vars(made)["_metadata_request"] = deepcopy(vars(value)["_metadata_request"])
    return made


def _copy_of(value: Any) -> Any:
    """An unfitted copy of anybody's learner; all else as it is. One that does not tell its parameters is copied whole."""
    if isinstance(value, type) or not (hasattr(value, "fit") or hasattr(value, "get_params")):
        return value
    if hasattr(value, "__sklearn_clone__"):
        return value.__sklearn_clone__()
    if not hasattr(value, "get_params"):
        return deepcopy(value)
    return type(value)(**{name: _fresh(one) for name, one in value.get_params(deep=False).items()})
