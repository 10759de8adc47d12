"""Every native kernel equals its array twin, whatever the shapes, types, scales and instruction sets."""

import ast
import functools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from fractions import Fraction
from pathlib import Path
from typing import Any

import array_api_strict
import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

import tenfold
from tenfold import _kernels
from tenfold.core import twins

LEVELS = ["baseline", "avx2", "avx512"]
NUMPY_ONLY = {"hash_rows", "extended_gradient", "extended_gram"}  # twins beyond the array API standard


@pytest.fixture(params=LEVELS, autouse=True)
def level(request: pytest.FixtureRequest) -> Iterator[str]:
    try:
        before = _kernels.use_level(request.param)
    except ValueError:
        pytest.skip(f"this machine has no {request.param}")
    yield request.param
    _kernels.use_level(before)


def arguments(
    n: int, p: int, q: int, k: int, dtype: Any = np.float64, seed: int = 0, offset: float = 0.0, scale: float = 1.0
) -> dict[str, tuple[Any, ...]]:
    """Arguments of every kernel for a table of n rows and p columns, with q targets and k groups."""
    r = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return r.normal(size=shape)

    X = ((normal(n, p) + offset) * scale).astype(dtype)
    Y, w = normal(n, q), np.where(r.random(n) < 0.5, 1.0, r.random(n) + 0.1)
    C = (normal(k, p) + offset) * scale
    g, y, c = r.integers(0, k, n), r.integers(0, 2, n), normal(k)
    beta, B = normal(p + 1) / (scale * (1 + abs(offset))), normal(k, p + 1) / (scale * (1 + abs(offset)))
    R = np.triu(normal(p, p)) / max(p, 1) + 2 * np.eye(p)
    rows = r.integers(0, max(n, 1), n)
    given = {
        "all_finite": (X,),
        "hash_rows": (X, seed),
        "moments": (X, Y, w),
        "moments_at": (X, rows, Y, w),
        "take_rows": (X, rows),
        "merge_scatter": (normal(p, p), normal(p, p), normal(p), False),
        "group_moments": (X, g, w, k),
        "group_spreads": (X, g, w, k),
        "weighted_gram": (X, w),
        "logistic_terms": (X, y, w, beta),
        "logistic_curvature": (X, w, beta),
        "softmax_terms": (X, g, w, B),
        "nearest": (X, C),
        "assign_sums": (X, w, C),
        "lloyd": (X, w, C, 1e-3 * scale**2, 5),
        "linear_scores": (X, C, c),
        "spread_scores": (X, C, r.random((k, p)) / scale**2, c),
        "quadratic_scores": (X, C, normal(k, p, p) / scale, c),
        "rank_pairs": ((np.round(normal(n), 1) * scale).astype(dtype), y, w),
    }
    if dtype == np.float64:
        given["extended_gradient"] = (X, Y, w, normal(p, q), 1e-17 * normal(p, q))
        given["extended_gram"] = (X, Y, w, R)
    return given


def call(function: Callable[..., Any], given: tuple[Any, ...]) -> list[Any]:
    """The results as a list, reduced to what is well defined: the mean, not its centre and offset."""
    result = function(*given)
    result = list(result) if isinstance(result, tuple) else [result]
    if function.__name__ in ("moments", "moments_at", "group_moments", "group_spreads"):
        weight, center, offset, scatter = result
        return [weight, center + offset, scatter]
    if function.__name__ == "extended_gradient":
        return [result[0] + result[1], result[2]]
    return [sum(result)] if function.__name__ == "extended_gram" else result


@functools.cache
def of_twins(shape: tuple[int, int, int, int], dtype: Any) -> dict[str, tuple[tuple[Any, ...], list[Any]]]:
    """The arguments of every kernel, and what its twin makes of them, which no instruction set changes."""
    return {name: (given, call(getattr(twins, name), given)) for name, given in arguments(*shape, dtype=dtype).items()}


def check(name: str, given: tuple[Any, ...], rtol: float = 1e-10, floor: float = 0.0, expected: Any = None) -> None:
    """Equal to `rtol` of the largest value, or to `floor` where all are nothing but rounding errors."""
    expected = call(getattr(twins, name), given) if expected is None else expected
    got = call(getattr(_kernels, name), given)
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        assert np.shape(a) == np.shape(b)
        if np.asarray(b).dtype.kind in "biu":
            assert_array_equal(a, b, err_msg=name)
        else:
            atol = max(floor, rtol * np.max(np.abs(b), initial=0.0))
            assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=name)


SHAPES = [
    (0, 0, 0, 1),
    (0, 3, 1, 2),
    (1, 1, 1, 1),
    (5, 0, 1, 2),
    (17, 5, 2, 3),
    (301, 33, 1, 7),
    (150, 4, 1, 3),
    (1037, 131, 3, 30),
    (700, 24, 0, 13),
    (64, 8, 8, 16),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
def test_kernel_equals_twin(shape: tuple[int, int, int, int], dtype: Any) -> None:
    for name, (given, expected) in of_twins(shape, dtype).items():
        check(name, given, expected=expected)


@hypothesis.settings(max_examples=40, deadline=None)
@hypothesis.given(
    shape=st.tuples(st.integers(0, 70), st.integers(0, 40), st.integers(0, 9), st.integers(1, 20)),
    dtype=st.sampled_from([np.float64, np.float32]),
    seed=st.integers(0, 2**32),
    offset=st.sampled_from([0.0, 3.0, -100.0]),
)
def test_kernel_equals_twin_of_any_shape(
    shape: tuple[int, int, int, int], dtype: Any, seed: int, offset: float
) -> None:
    for name, given in arguments(*shape, dtype, seed, offset).items():
        check(name, given, rtol=1e-9, floor=1e-20)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_scales(scale: float) -> None:
    for name, given in arguments(83, 21, 1, 5, scale=scale).items():
        if name != "hash_rows" and not name.startswith(("weighted", "extended", "logistic_c")):
            check(name, given)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_huge_offsets(offset: float) -> None:
    given = arguments(500, 13, 1, 6, offset=offset)
    for name in ("moments", "moments_at", "group_moments", "group_spreads", "nearest", "assign_sums", "spread_scores"):
        check(name, given[name], rtol=1e-9)


def test_no_groups() -> None:
    X, g, w, none = np.zeros((0, 4)), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 4))
    for name, given in {
        "group_moments": (X, g, w, 0),
        "group_spreads": (X, g, w, 0),
        "softmax_terms": (X, g, w, np.zeros((0, 5))),
        "linear_scores": (np.ones((20, 4)), none, w),
        "spread_scores": (np.ones((20, 4)), none, none, w),
        "quadratic_scores": (np.ones((20, 4)), none, np.zeros((0, 4, 4)), w),
    }.items():
        check(name, given)


def test_constant_columns_have_no_negative_spread() -> None:
    X = np.repeat(np.random.default_rng(5).normal(size=(1, 40)) * 1e5, 101, axis=0)
    w, g = np.random.default_rng(6).random(101) + 0.1, np.arange(101) % 3
    for scatter in (_kernels.moments(X, X[:, :0], w)[3], *_kernels.group_moments(X, g, w, 3)[3]):
        assert (np.diagonal(scatter) >= 0).all() and (np.abs(scatter) < 1e-15).all()
    assert (_kernels.group_spreads(X, g, w, 3)[3] >= 0).all()


def test_empty_groups_and_weightless_rows_give_zeros() -> None:
    X, g = np.ones((4, 3)), np.array([0, 0, 2, 2])
    for kernel in (_kernels.group_moments, _kernels.group_spreads):
        for part in kernel(X, g, np.array([1.0, 2.0, 0.0, 0.0]), 4):
            assert_array_equal(part[1:], np.zeros_like(part[1:]))
    weight, *parts = _kernels.moments(X, X, np.zeros(4))
    assert weight == 0 and all(not part.any() for part in parts)


def test_lloyd_makes_the_steps_of_assign_sums() -> None:
    r = np.random.default_rng(7)
    X, w = r.normal(size=(400, 3)), r.random(400) + 0.5
    C = X[:4].copy()
    for steps in range(1, 6):
        weight, total, before = _kernels.assign_sums(X, w, C)
        shift = np.sum((total / weight[:, None] - C) ** 2)
        C = total / weight[:, None]
        found = _kernels.lloyd(X, w, X[:4].copy(), 0.0, steps)
        assert_array_equal(found[0], C)
        assert found[1] == before and found[3] == steps
        assert_allclose(found[2], shift, rtol=1e-13)
    end = _kernels.lloyd(X, w, X[:4].copy(), 0.0, 1000)
    assert end[2] == 0 and end[3] < 1000
    idle = np.concatenate([X[:4], [[1e6, 0, 0]]])
    found = _kernels.lloyd(X, w, idle, 0.0, 10)
    assert_array_equal(found[0], idle)
    assert found[1:] == (np.inf, np.inf, 0)


@pytest.mark.parametrize("first", [1, 96, 600])
@pytest.mark.parametrize("light", [1.0, 1e-9])
def test_moments_when_the_first_rows_are_far_from_the_rest(first: int, light: float) -> None:
    """The centre comes from the first rows; where these say little about the others, few digits may be lost."""
    r = np.random.default_rng(4)
    X, w = r.normal(size=(1000, 5)), np.ones(1000)
    X[:first] += 1e6
    w[:first] = light
    check("moments", (X, X[:, :1].copy(), w), rtol=1e-12)


def test_rows_by_number_give_the_same_bits_as_their_copies() -> None:
    X, rows, Y, w = arguments(500, 21, 1, 3)["moments_at"]
    for a, b in zip(_kernels.moments_at(X, rows, Y, w), _kernels.moments(X[rows], Y, w), strict=True):
        assert_array_equal(a, b)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_of_a_row_do_not_depend_on_the_rows_beside_it(dtype: Any) -> None:
    given = arguments(300, 21, 1, 9, dtype=dtype)
    for name in ("linear_scores", "spread_scores", "quadratic_scores"):
        X, *rest = given[name]
        whole = getattr(_kernels, name)(X, *rest)
        for rows in (slice(0, 1), slice(1, 70), slice(291, 300)):
            assert_array_equal(getattr(_kernels, name)(X[rows], *rest), whole[rows], err_msg=name)


def test_merging_in_place_gives_the_same_bits() -> None:
    A, B, d, _ = arguments(1, 19, 1, 1)["merge_scatter"]
    expected = _kernels.merge_scatter(A, B, d, False)
    assert expected is not A and _kernels.merge_scatter(A, B, d, True) is A
    assert_array_equal(A, expected)
    A.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        _kernels.merge_scatter(A, B, d, True)


@pytest.mark.parametrize("row", [-1, 500, 2**62, -(2**63)])
def test_row_numbers_outside_the_table_are_refused(row: int) -> None:
    X, rows, Y, w = arguments(500, 4, 1, 3)["moments_at"]
    rows[7] = row
    for refused in (lambda: _kernels.moments_at(X, rows, Y, w), lambda: _kernels.take_rows(X, rows)):
        with pytest.raises(ValueError, match="outside the table"):
            refused()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ties_go_to_the_smallest_label(dtype: Any) -> None:
    """On small whole numbers every distance is exact, and many are equal."""
    r = np.random.default_rng(1)
    for shift in (0, 1_000_000):
        X = (r.integers(-2, 3, (400, 3)) + shift).astype(dtype)
        C = (r.integers(-2, 3, (23, 3)) + shift).astype(np.float64)
        assert_array_equal(_kernels.nearest(X, C)[0], twins.nearest(X, C)[0])
        assert_array_equal(_kernels.nearest(X, C[:1].repeat(5, axis=0))[0], 0)


def test_near_ties_are_decided_in_double() -> None:
    """Rows a little beside the middle of two centres, far closer than float32 can tell."""
    r = np.random.default_rng(2)
    C = r.normal(size=(2, 30))
    side = np.repeat([1.0, -1.0], 40)
    X = C.mean(axis=0) + (side * 10.0 ** -np.tile(np.linspace(3, 13, 40), 2))[:, None] * (C[1] - C[0])
    assert_array_equal(_kernels.nearest(X, C)[0], (side > 0).astype(int))


def test_far_centres_and_rows_do_not_blur_the_others() -> None:
    r = np.random.default_rng(3)
    C, X = r.normal(size=(9, 4)), r.normal(size=(200, 4))
    C[4] += 1e12
    X[7] += 1e30
    X[8] -= 1e100
    check("nearest", (X, C))


def test_not_finite_values_give_a_valid_label() -> None:
    X, C = np.full((40, 3), np.nan), np.random.default_rng(0).normal(size=(5, 3))
    X[::2] = np.inf
    assert_array_equal(_kernels.nearest(X, C)[0], 0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_finite_finds_every_place(dtype: Any) -> None:
    values = np.full(2500, np.finfo(dtype).max, dtype=dtype)
    assert _kernels.all_finite(values) and _kernels.all_finite(values.reshape(50, 50))
    for place in (*range(40), 1023, 1024, 2303, 2304, 2499):
        for bad in (np.nan, np.inf, -np.inf):
            broken = values.copy()
            broken[place] = bad
            assert not _kernels.all_finite(broken)


def test_logistic_loss_and_residual_to_the_last_digits() -> None:
    for eta in (*np.linspace(-707, 707, 301), *np.linspace(-2, 2, 101), 1e-300, 1e-9, -1e-9, 0.0):
        beta = np.array([0.0, eta])
        loss, grad = _kernels.logistic_terms(np.zeros((1, 1)), np.array([0]), np.ones(1), beta)
        assert_allclose([loss, grad[1]], [np.logaddexp(0, eta), expit(eta)], rtol=1e-14, atol=0)
    loss, grad = _kernels.logistic_terms(np.zeros((2, 1)), np.array([0, 1]), np.ones(2), np.array([0.0, 1e4]))
    assert loss == 1e4 and grad[1] == 1.0


@pytest.mark.parametrize("shape", ["normal", "exponents", "both ends", "ties", "subnormal", "one class below"])
def test_rank_pairs_of_many_rows(shape: str) -> None:
    r = np.random.default_rng(6)
    y, s = r.integers(0, 2, 30_000), r.normal(size=30_000)
    s = {
        "normal": s,
        "exponents": np.exp(100 * s),
        "both ends": np.where(r.random(30_000) < 0.5, s, np.sign(s) * 1.7e308),
        "ties": np.round(s, 2),
        "subnormal": np.round(s * 50) * 5e-324,
        "one class below": s + 100 * y,
    }[shape]
    w = r.integers(1, 4, 30_000).astype(np.float64)  # sums of whole numbers are exact
    for weight in (np.ones(30_000), w):
        value, place = np.unique(s, return_inverse=True)
        up, down = (np.bincount(place, weights=weight * (y == label), minlength=len(value)) for label in (1, 0))
        expected = up.sum(), down.sum(), up @ (np.cumsum(down) - down / 2)
        assert _kernels.rank_pairs(s, y, weight) == expected
    assert _kernels.rank_pairs(s, y, np.empty(0)) == _kernels.rank_pairs(s, y, np.ones(30_000))
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="scores must be finite"):
            _kernels.rank_pairs(np.array([0.0, bad]), y[:2], np.empty(0))


def test_hash_depends_on_content_only() -> None:
    X = np.random.default_rng(0).normal(size=(300, 7)).astype(np.float32)
    hashes = _kernels.hash_rows(X, 5)
    assert len(np.unique(hashes)) == 300
    assert_array_equal(_kernels.hash_rows(X.astype(np.float64), 5), hashes)
    assert (_kernels.hash_rows(X[:, ::-1].copy(), 5) != hashes).all()
    assert (_kernels.hash_rows(X, 6) != hashes).all()
    odd = np.array([[0.0, 1e300], [-0.0, np.inf]])
    assert len(np.unique(_kernels.hash_rows(odd, 0))) == 1


def test_extended_sums_have_thirty_digits() -> None:
    r = np.random.default_rng(4)
    X, Y, w = r.normal(size=(20, 3)), r.normal(size=(20, 1)), r.random(20)
    Bhi, Blo = r.normal(size=(3, 1)), 1e-17 * r.normal(size=(3, 1))
    R = np.triu(r.normal(size=(3, 3))) + 3 * np.eye(3)
    exact = np.vectorize(Fraction, otypes=[object])
    residual = exact(Y) - exact(X) @ (exact(Bhi) + exact(Blo))
    gradient = (exact(X) * exact(w)[:, None]).T @ residual
    hi, lo, rss = _kernels.extended_gradient(X, Y, w, Bhi, Blo)
    assert np.max(np.abs(exact(hi) + exact(lo) - gradient)) < 1e-29
    assert_allclose(rss, [float((exact(w) * residual[:, 0] ** 2).sum())], rtol=1e-15, atol=0)
    Z = np.hstack([exact(X), exact(Y)])
    for j in range(3):
        Z[:, j] = (Z[:, j] - Z[:, :j] @ exact(R[:j, j])) / Fraction(R[j, j])
    hi, lo = _kernels.extended_gram(X, Y, w, R)
    assert np.max(np.abs(exact(hi) + exact(lo) - (Z * exact(w)[:, None]).T @ Z)) < 1e-29


def test_twins_need_only_the_array_api() -> None:
    for shape in ((17, 5, 2, 3), (0, 3, 1, 2)):
        for name, given in arguments(*shape).items():
            if name not in NUMPY_ONLY:
                twin = getattr(twins, name)
                strict = [array_api_strict.asarray(a) if isinstance(a, np.ndarray) else a for a in given]
                for a, b in zip(call(twin, tuple(strict)), call(twin, given), strict=True):
                    assert_allclose(np.asarray(a), b, rtol=1e-13, atol=1e-13)


def test_threads_and_read_only_inputs_give_the_same_bits() -> None:
    given = arguments(900, 37, 2, 6)
    for each in given.values():
        for value in each:
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
    once = {name: call(getattr(_kernels, name), each) for name, each in given.items()}
    with ThreadPoolExecutor(4) as pool:
        for name, each in given.items():
            for result in pool.map(lambda _, n=name, e=each: call(getattr(_kernels, n), e), range(8)):
                for a, b in zip(result, once[name], strict=True):
                    assert_array_equal(a, b)


def test_scatters_are_exactly_symmetric() -> None:
    given = arguments(333, 29, 2, 4)
    groups = _kernels.group_moments(*given["group_moments"])[3]
    whole = _kernels.moments(*given["moments"])[3]
    for scatter in (whole, *groups, _kernels.weighted_gram(*given["weighted_gram"])):
        assert_array_equal(scatter, scatter.T)


def test_a_run_that_is_cancelled_stops_its_kernels_and_no_others() -> None:
    run = _kernels.Run(_kernels.Run(None))
    for name, given in arguments(600, 9, 1, 4).items():
        inside = copy_context()
        inside.run(_kernels._run.set, run)
        whole = inside.run(call, getattr(_kernels, name), given)
        other = copy_context()
        stopped = _kernels.Run(run)
        stopped.cancel()
        other.run(_kernels._run.set, stopped)
        with pytest.raises(KeyboardInterrupt, match="given up"):
            other.run(call, getattr(_kernels, name), given)
        other.run(_kernels._run.set, _kernels.Run(stopped))  # work within work is given up with it
        with pytest.raises(KeyboardInterrupt, match="given up"):
            other.run(call, getattr(_kernels, name), given)
        for a, b in zip(whole, inside.run(call, getattr(_kernels, name), given), strict=True):
            assert_array_equal(a, b)
    assert not run.cancelled


@pytest.mark.parametrize("label", [-1, 3, 2**62, -(2**63)])
def test_labels_out_of_range_are_refused(label: int) -> None:
    X, w, g = np.ones((5, 2)), np.ones(5), np.array([0, 1, 2, label, 0])
    for refused in (
        lambda: _kernels.group_moments(X, g, w, 3),
        lambda: _kernels.group_spreads(X, g, w, 3),
        lambda: _kernels.softmax_terms(X, g, w, np.ones((3, 3))),
        lambda: _kernels.logistic_terms(X, g, w, np.ones(3)),
    ):
        with pytest.raises(ValueError, match=r"row \d has label"):
            refused()


# Sizes that no other argument fixes, as (argument, axis).
FREE = {
    "all_finite": {(0, 0), (0, 1)},
    "hash_rows": {(0, 0), (0, 1)},
    "moments": {(0, 1), (1, 1)},
    "moments_at": {(0, 0), (0, 1), (2, 1)},
    "take_rows": {(0, 0), (0, 1), (1, 0)},
    "group_moments": {(0, 1)},
    "group_spreads": {(0, 1)},
    "weighted_gram": {(0, 1)},
    "softmax_terms": {(3, 0)},
    "nearest": {(0, 0), (1, 0)},
    "assign_sums": {(2, 0)},
    "lloyd": {(2, 0)},
    "linear_scores": {(0, 0)},
    "spread_scores": {(0, 0)},
    "quadratic_scores": {(0, 0)},
    "extended_gram": {(1, 1)},
}


def test_sizes_that_disagree_are_refused() -> None:
    for name, given in arguments(6, 3, 2, 4).items():
        for place, value in enumerate(given):
            for axis in range(np.ndim(value)):
                longer = (*given[:place], np.concatenate([value, value], axis=axis), *given[place + 1 :])
                if (place, axis) in FREE.get(name, set()):
                    getattr(_kernels, name)(*longer)
                else:
                    with pytest.raises(ValueError, match=r"must|differ"):
                        getattr(_kernels, name)(*longer)


def test_wrong_arrays_are_refused() -> None:
    X, w = np.ones((6, 4)), np.ones(6)
    unaligned = np.frombuffer(b"\0" * (6 * 4 * 8 + 1), dtype=np.uint8)[1:].view(np.float64).reshape(6, 4)
    types = (np.int64, ">f8", object, np.float16, bool)
    for bad in (*(X.astype(t) for t in types), X[:, ::2], X.T, X[None], list(X), None, unaligned):
        with pytest.raises(TypeError):
            _kernels.weighted_gram(bad, w)
    with pytest.raises(ValueError, match="at least one centre"):
        _kernels.nearest(X, np.zeros((0, 4)))
    with pytest.raises((ValueError, MemoryError)):
        _kernels.moments(np.zeros((0, 2**40)), np.zeros((0, 0)), np.zeros(0))
    with pytest.raises(ValueError, match="no instruction set"):
        _kernels.use_level("mmx")


def test_stub_names_every_kernel() -> None:
    stub = Path(tenfold.__file__).with_name("_kernels.pyi")
    declared = {
        node.name for node in ast.parse(stub.read_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert declared == {name for name in dir(_kernels) if not name.startswith("_")}
    assert declared - {"Budget", "Lease", "Run", "use_level"} <= {
        name for name in dir(twins) if not name.startswith("_")
    }
