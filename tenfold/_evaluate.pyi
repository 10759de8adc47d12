from typing import overload

import numpy
import numpy.typing

@overload
def whitened_squares(
    X: numpy.typing.NDArray[numpy.float64],
    mean: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def whitened_squares(
    X: numpy.typing.NDArray[numpy.float32],
    mean: numpy.typing.NDArray[numpy.float64],
    W: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def residuals_left(
    X: numpy.typing.NDArray[numpy.float64],
    Y: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    squares: numpy.typing.NDArray[numpy.float64],
    coef: numpy.typing.NDArray[numpy.float64],
    intercept: numpy.typing.NDArray[numpy.float64],
    share: float,
    digits: float,
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def residuals_left(
    X: numpy.typing.NDArray[numpy.float32],
    Y: numpy.typing.NDArray[numpy.float64],
    w: numpy.typing.NDArray[numpy.float64],
    squares: numpy.typing.NDArray[numpy.float64],
    coef: numpy.typing.NDArray[numpy.float64],
    intercept: numpy.typing.NDArray[numpy.float64],
    share: float,
    digits: float,
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def naive_bayes_left(
    X: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    log_prior: numpy.typing.NDArray[numpy.float64],
    given: bool,
    mean: numpy.typing.NDArray[numpy.float64],
    inverse: numpy.typing.NDArray[numpy.float64],
    level: numpy.typing.NDArray[numpy.float64],
    whole: numpy.typing.NDArray[numpy.float64],
    overall: numpy.typing.NDArray[numpy.float64],
    order: numpy.typing.NDArray[numpy.int64],
    smoothing: float,
    epsilon: float,
    negligible: float,
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def naive_bayes_left(
    X: numpy.typing.NDArray[numpy.float32],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    log_prior: numpy.typing.NDArray[numpy.float64],
    given: bool,
    mean: numpy.typing.NDArray[numpy.float64],
    inverse: numpy.typing.NDArray[numpy.float64],
    level: numpy.typing.NDArray[numpy.float64],
    whole: numpy.typing.NDArray[numpy.float64],
    overall: numpy.typing.NDArray[numpy.float64],
    order: numpy.typing.NDArray[numpy.int64],
    smoothing: float,
    epsilon: float,
    negligible: float,
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def centroids_left(
    X: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    log_prior: numpy.typing.NDArray[numpy.float64],
    given: bool,
    mean: numpy.typing.NDArray[numpy.float64],
    unit: numpy.typing.NDArray[numpy.float64],
    nearest: bool,
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def centroids_left(
    X: numpy.typing.NDArray[numpy.float32],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    log_prior: numpy.typing.NDArray[numpy.float64],
    given: bool,
    mean: numpy.typing.NDArray[numpy.float64],
    unit: numpy.typing.NDArray[numpy.float64],
    nearest: bool,
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def linear_discriminant_left(
    X: numpy.typing.NDArray[numpy.float64],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    log_prior: numpy.typing.NDArray[numpy.float64],
    given: bool,
    squares: numpy.typing.NDArray[numpy.float64],
    center: numpy.typing.NDArray[numpy.float64],
    coef: numpy.typing.NDArray[numpy.float64],
    inner: numpy.typing.NDArray[numpy.float64],
    least: float,
) -> numpy.typing.NDArray[numpy.float64]: ...
@overload
def linear_discriminant_left(
    X: numpy.typing.NDArray[numpy.float32],
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    log_prior: numpy.typing.NDArray[numpy.float64],
    given: bool,
    squares: numpy.typing.NDArray[numpy.float64],
    center: numpy.typing.NDArray[numpy.float64],
    coef: numpy.typing.NDArray[numpy.float64],
    inner: numpy.typing.NDArray[numpy.float64],
    least: float,
) -> numpy.typing.NDArray[numpy.float64]: ...
def quadratic_discriminant_left(
    squares: numpy.typing.NDArray[numpy.float64],
    p: int,
    y: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    weight: numpy.typing.NDArray[numpy.float64],
    log_prior: numpy.typing.NDArray[numpy.float64],
    given: bool,
    level: numpy.typing.NDArray[numpy.float64],
    least: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
def use_level(name: str) -> bool: ...
def bin_sums(
    x: numpy.typing.NDArray[numpy.float64],
    truth: numpy.typing.NDArray[numpy.int64],
    w: numpy.typing.NDArray[numpy.float64],
    edges: numpy.typing.NDArray[numpy.float64],
) -> numpy.typing.NDArray[numpy.float64]: ...
def largest_columns(rows: numpy.typing.NDArray[numpy.float64]) -> object: ...
def pool_neighbours(
    y: numpy.typing.NDArray[numpy.float64], w: numpy.typing.NDArray[numpy.float64]
) -> numpy.typing.NDArray[numpy.float64]: ...
