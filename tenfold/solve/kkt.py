"""Whether a point is a solution of  min f(x)  subject to  g(x) ≤ 0  and  h(x) = 0:  the conditions of Karush, Kuhn and Tucker, one by one.

With multipliers λ of g and μ of h:  ∇f + Σ λᵢ ∇gᵢ + Σ μⱼ ∇hⱼ = 0,  g ≤ 0 and h = 0,  λ ≥ 0,  λᵢ gᵢ = 0.  Where the gradients of the active
constraints are independent, every minimum fulfils them; where f and g are convex and h is affine, whatever fulfils them is a minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.solve.curvature import second_order
from tenfold.solve.nonnegative import Factored, nonnegative_exact
from tenfold.solve.slopes import functions_of, slopes

DEPENDENT = 1e-8  # smallest singular value of gradients of length 1 up to which they count as dependent


class Condition(NamedTuple):
    """One of the conditions: its worst violation, how large that may be, and where it is."""

    name: str
    holds: bool
    violation: float
    limit: float
    where: str  # the constraint, or the coordinate of x
    words: str


@dataclass(frozen=True)
class KKTCheck:
    """What was found of a point. True where all four conditions hold."""

    passed: bool
    stationarity: Condition
    primal: Condition
    dual: Condition
    slackness: Condition
    multipliers: dict[str, float]  # of the inequalities
    equality_multipliers: dict[str, float]
    found: bool  # whether the multipliers were found here, by least squares over the active constraints
    active: tuple[str, ...]  # inequalities that hold with equality, or do not hold
    independent: bool  # the gradients of the active constraints: the constraint qualification
    qualification: str
    second_order: str  # what the curvature along the constraints says; "" where the conditions fail or x is long

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The four of them."""
        return self.stationarity, self.primal, self.dual, self.slackness

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        said = "all conditions of a minimum hold" if self.passed else f"not a minimum: {self._failed()}"
        lines = [said, *(f"  {'yes' if one.holds else 'NO ':3}  {one.name:24} {one.words}" for one in self.conditions)]
        values = [*self.multipliers.items(), *self.equality_multipliers.items()]
        if values:
            how = "found" if self.found else "given"
            lines.append(f"  multipliers ({how}): {', '.join(f'{name} {value:.6g}' for name, value in values)}")
        return "\n".join([*lines, *(f"  {text}" for text in (self.qualification, self.second_order) if text)])

    def _failed(self) -> str:
        return " and ".join(f"{one.name} fails" for one in self.conditions if not one.holds)

    def _repr_html_(self) -> str:
        head, *_ = str(self).splitlines()
        rows = "".join(
            f"<tr><td>{'yes' if one.holds else '<b>no</b>'}</td><td>{one.name}</td><td>{escape(one.words)}</td></tr>"
            for one in self.conditions
        )
        more = "".join(f"<p>{escape(text)}</p>" for text in (self.qualification, self.second_order) if text)
        return f"<p>{escape(head)}</p><table>{rows}</table>{more}"


class _Constraints(NamedTuple):
    """All constraints of one kind: names, values and gradients."""

    names: list[str]
    values: Array  # (m,)
    slopes: Array  # (m, n)

    @property
    def sizes(self) -> Array:
        return np.asarray(np.linalg.norm(self.slopes, axis=1))


def kkt(
    x: Any,
    objective: Callable[[Array], Any],
    inequalities: Any = (),
    equalities: Any = (),
    *,
    gradient: Any = None,
    inequality_gradients: Any = None,
    equality_gradients: Any = None,
    multipliers: Any = None,
    equality_multipliers: Any = None,
    rtol: float = 1e-6,
    atol: float = 1e-6,
) -> KKTCheck:
    """Whether x solves  min objective(x)  subject to  inequalities ≤ 0  and  equalities = 0, and which condition fails if not.

    x                      (n,), the proposed solution
    inequalities           functions of x, each a number or a vector of them, as a dict by name, a list, or one function; g(x) ≥ 0 is −g
    gradient, ..._gradients    functions of x (or arrays at x) that give (n,) or (m, n); where they are not given, by complex steps if
                           the function takes these, else by central differences
    multipliers, equality_multipliers    numbers, in the order of the constraints or by name; where they are not given, those that
                           come nearest to stationarity: least squares over the active constraints, λ ≥ 0
    rtol, atol             x counts as on a constraint within atol + rtol ‖x‖ of it; the gradient of the Lagrangian counts as zero up to
                           atol + rtol times the largest of its terms

    >>> import tenfold
    >>> found = tenfold.kkt([0.5, 0.5], lambda x: x @ x, equalities={"sum": lambda x: x[0] + x[1] - 1})
    >>> bool(found), round(found.equality_multipliers["sum"], 6)
    (True, -1.0)
    """
    at = _point(x)
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if not (isinstance(tolerance, (int, float, np.number)) and 0 <= tolerance < 1e100):
            raise BadParameter(f"kkt({name}={tolerance!r}): must be a number of at least 0")
    f = slopes(objective, at, gradient, "the objective")
    if f.values.size != 1:
        raise BadInput(f"kkt: the objective gives {f.values.size} numbers at x, not one")
    steep = f.slopes[0]
    g = _constraints(inequalities, at, inequality_gradients, "inequality")
    h = _constraints(equalities, at, equality_gradients, "equality")
    reach = atol + rtol * float(np.linalg.norm(at))
    near = [reach * np.where(one.sizes > 0, one.sizes, 1.0) for one in (g, h)]
    active = g.values >= -near[0]
    found = multipliers is None and equality_multipliers is None
    if found:
        lam, mu = _nearest(steep, g, h, active)
    else:
        lam, mu = _given(multipliers, g, "multipliers"), _given(equality_multipliers, h, "equality_multipliers")
    terms = [np.linalg.norm(steep), *(np.abs(lam) * g.sizes), *(np.abs(mu) * h.sizes)]
    small = atol + rtol * float(max(terms))
    rest = steep + lam @ g.slopes + mu @ h.slopes
    conditions = (
        _stationarity(rest, small),
        _primal(g, h, near),
        _worst("dual feasibility", -lam, np.divide(small, g.sizes, out=np.full(len(lam), small), where=g.sizes > 0), g.names, _below),
        _slackness(lam, g, near[0], small),
    )
    passed = all(one.holds for one in conditions)
    independent, words = _qualification(g, h, active)
    curved = ""
    if passed:
        strict = active & (lam * g.sizes > small)
        curved = second_order(at, objective, inequalities, equalities, lam, mu, g.slopes[strict], h.slopes, bool((active & ~strict).any()))
    return KKTCheck(
        passed, *conditions, dict(zip(g.names, lam.tolist(), strict=True)), dict(zip(h.names, mu.tolist(), strict=True)), found,
        tuple(name for name, one in zip(g.names, active, strict=True) if one), independent, words, curved,
    )  # fmt: skip


def _point(x: Any) -> Array:
    try:
        at = np.atleast_1d(np.asarray(x, dtype=np.float64))
    except (TypeError, ValueError):
        raise BadInput("kkt: x must be a vector of numbers") from None
    if at.ndim != 1 or not at.size:
        raise BadInput(f"kkt: x must be a vector of numbers, not of shape {at.shape}")
    if not np.isfinite(at).all():
        i = int(np.flatnonzero(~np.isfinite(at))[0])
        raise BadInput(f"kkt: x[{i}] is {at[i]}: a solution is made of finite numbers")
    return at


def _constraints(given: Any, x: Array, gradients: Any, kind: str) -> _Constraints:
    named = functions_of(given, kind)
    if isinstance(gradients, Mapping):
        unknown = set(map(str, gradients)) - {name for name, _ in named}
        if unknown:
            raise BadParameter(f"kkt: there is a gradient of {min(unknown)}, which is none of the {kind} constraints")
        own = [gradients.get(name) for name, _ in named]
    elif gradients is None or callable(gradients) or isinstance(gradients, np.ndarray):
        if gradients is not None and len(named) != 1:
            raise BadParameter(f"kkt: there are {len(named)} {kind} constraints: give as many gradients, as a list or by name")
        own = [gradients] * len(named)
    else:
        own = list(gradients)
        if len(own) != len(named):
            raise BadParameter(f"kkt: there are {len(named)} {kind} constraints and {len(own)} gradients of them")
    names, values, rows = list[str](), [np.empty(0)], [np.empty((0, len(x)))]
    for (name, one), gradient in zip(named, own, strict=True):
        found = slopes(one, x, gradient, name)
        names += [name] if found.flat else [f"{name}[{i}]" for i in range(len(found.values))]
        values.append(found.values)
        rows.append(found.slopes)
    return _Constraints(names, np.concatenate(values), np.vstack(rows))


def _given(values: Any, of: _Constraints, what: str) -> Array:
    if values is None:
        values = {}
        if of.names:
            raise BadParameter(f"kkt({what}=None): give those of {', '.join(of.names)} too, or let all of them be found")
    if isinstance(values, Mapping):
        unknown = set(map(str, values)) - set(of.names)
        if unknown:
            raise BadParameter(f"kkt({what}=...): there is no constraint {min(unknown)}; there are {', '.join(of.names) or 'none'}")
        values = [values.get(name, 0.0) for name in of.names]
    found = np.atleast_1d(np.asarray(values, dtype=np.float64)).reshape(-1)
    if len(found) != len(of.names) or not np.isfinite(found).all():
        raise BadParameter(f"kkt({what}=...): must be {len(of.names)} finite numbers, one for each constraint")
    return found


def _nearest(steep: Array, g: _Constraints, h: _Constraints, active: Array) -> tuple[Array, Array]:
    """λ ≥ 0 on the active constraints and μ with the smallest gradient of the Lagrangian: what h explains is taken out first."""
    lam = np.zeros(len(g.names))
    left, right = steep, g.slopes[active].T
    if len(h.names):
        U, sizes, _ = np.linalg.svd(h.slopes.T, full_matrices=False)
        U = U[:, sizes > DEPENDENT * sizes.max(initial=0.0)]
        left, right = steep - U @ (U.T @ steep), right - U @ (U.T @ right)
    full = np.linalg.norm(g.slopes[active], axis=1)
    right = np.where(np.linalg.norm(right, axis=0) > DEPENDENT * full, right, 0.0)  # else rounding
    if right.any():
        lam[active] = nonnegative_exact(Factored.of(right, -left), right.shape[1])[0]
    mu = np.linalg.lstsq(h.slopes.T, -(steep + lam @ g.slopes), rcond=DEPENDENT)[0] if len(h.names) else np.zeros(0)
    return lam, mu


# --- the four conditions -------------------------------------------------------------------------------------------


def _stationarity(rest: Array, small: float) -> Condition:
    size, worst = float(np.linalg.norm(rest)), int(np.abs(rest).argmax())
    where = f"x[{worst}]"
    words = f"the gradient of the Lagrangian has length {size:.3g}"
    words += "" if size <= small else f", more than {small:.3g}; most along {where}: {rest[worst]:.3g}"
    return Condition("stationarity", size <= small, size, small, where, words)


def _primal(g: _Constraints, h: _Constraints, near: list[Array]) -> Condition:
    values = np.concatenate([g.values, np.abs(h.values)])
    return _worst("primal feasibility", values, np.concatenate(near), [*g.names, *h.names], lambda v: f"is off by {v:.3g}")


def _below(value: float) -> str:
    return f"has the multiplier {-value:.3g}, below 0"


def _slackness(lam: Array, g: _Constraints, near: Array, small: float) -> Condition:
    """λ g = 0: one of the two is within its limit of zero."""
    loose = (np.abs(g.values) > near) & (np.abs(lam) * g.sizes > small)
    limits = np.where(loose, np.minimum(np.abs(lam) * near, small), np.inf)
    return _worst("complementary slackness", np.where(loose, np.abs(lam * g.values), 0.0), limits, g.names, lambda v: f"has λ g = {v:.3g}")


def _worst(name: str, values: Array, limits: Array, names: list[str], say: Callable[[float], str]) -> Condition:
    """Of violations with their limits, the one that is largest for its limit."""
    if not len(values):
        return Condition(name, True, 0.0, 0.0, "", "no constraint")
    beyond = values - limits
    wrong = int((beyond > 0).sum())
    if not wrong:
        worst = int(values.argmax())
        return Condition(name, True, max(float(values[worst]), 0.0), float(limits[worst]), names[worst], "no constraint is violated")
    worst = int(np.where(beyond > 0, values / np.maximum(limits, 1e-300), -np.inf).argmax())
    more = f", and {wrong - 1} more" if wrong > 1 else ""
    words = f"{names[worst]} {say(float(values[worst]))}, more than {limits[worst]:.3g}{more}"
    return Condition(name, False, float(values[worst]), float(limits[worst]), names[worst], words)


def _qualification(g: _Constraints, h: _Constraints, active: Array) -> tuple[bool, str]:
    """Whether the gradients of the active constraints are linearly independent; if not, those that are not."""
    names = [name for name, one in zip(g.names, active, strict=True) if one] + h.names
    rows = np.vstack([g.slopes[active], h.slopes])
    if not names:
        return True, ""
    sizes = np.linalg.norm(rows, axis=1)
    if (sizes == 0).any():
        which = names[int(np.flatnonzero(sizes == 0)[0])]
        return False, f"the gradient of {which} is zero: a minimum need not fulfil the conditions there"
    _, s, V = np.linalg.svd((rows / sizes[:, None]).T, full_matrices=True)
    if len(names) <= rows.shape[1] and s[-1] > DEPENDENT:
        return True, "the gradients of the active constraints are independent: the multipliers are the only ones"
    which = ", ".join(name for name, part in zip(names, V[-1], strict=True) if abs(part) > 1e-6)
    return False, f"the gradients of {which} are dependent: there may be other multipliers, and a minimum need not fulfil the conditions"
