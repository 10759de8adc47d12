"""Decisions where the truth is known: pens by Bayes' rule, and two triangles that no classifier tells apart in more than 3 of 4 cases.

Half of the pens are red. Of the red ones 2/7 are ballpens, of the black ones 5/7: what colour has a ballpen? Then one number from 0 to 1 is
seen, of density 2 - 2x in one class and 2x in the other: the best rule errs in 1/4 of the cases, guessing in 1/2, and the nearest neighbour
with one row of each class in about 35 %. Cover and Hart's inequality says where it goes with ever more rows.

    python examples/decisions.py [picture.png] [--trials 1000]
"""

from __future__ import annotations

import argparse

import numpy as np

import tenfold
from tenfold.distributions import Beta, Categorical
from tenfold.draw import draw_posteriors
from tenfold.evaluate import bayes_error, cover_hart, guessing_error, minimum_risk, posterior, simulated_bayes_error

RED, BLACK = Categorical([2 / 7, 5 / 7], ["ballpen", "fineliner"]), Categorical([5 / 7, 2 / 7], ["ballpen", "fineliner"])
FALLING, RISING = Beta(1, 2), Beta(2, 1)  # 2 - 2x and 2x
EVEN = [0.5, 0.5]


def nearest_error(rows: int, trials: int, seed: int = 0) -> float:
    """The error of the nearest neighbour with so many rows of each class, averaged over training sets and over x."""
    x = (np.arange(500) + 0.5)[:, None] / 500  # evenly over 0 to 1, as the evidence is
    wrong = []
    for trial in range(trials):
        sample = np.concatenate([one.sample(rows, [seed, trial, k]) for k, one in enumerate((FALLING, RISING))])
        model = tenfold.KNeighborsClassifier(n_neighbors=1).fit(sample[:, None], np.repeat([0, 1], rows))
        said = model.predict(x)
        wrong.append(np.where(said == 1, 1 - x[:, 0], x[:, 0]).mean())  # P(0 | x) = 1 - x
    return float(np.mean(wrong))


def main(arguments: list[str] | None = None) -> dict[str, float]:
    """Tell the story; returns its numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", nargs="?")
    parser.add_argument("--trials", type=int, default=1000, help="training sets of one row of each class")
    asked = parser.parse_args(arguments)
    ballpen = posterior(EVEN, [RED.log_density("ballpen"), BLACK.log_density("ballpen")])
    print(f"a ballpen is red with probability {ballpen.probabilities[0]:.4f}, black with {ballpen.probabilities[1]:.4f}: say black")
    dear = minimum_risk(ballpen.probabilities[None], loss=[[0, 4], [1, 0]])[0]
    print(f"where a red one taken for black costs four times as much: say {'red' if dear == 0 else 'black'}")
    best = bayes_error([FALLING.density, RISING.density], EVEN, 0, 1)
    drawn = simulated_bayes_error(
        [lambda rng, n: FALLING.sample(n, rng), lambda rng, n: RISING.sample(n, rng)], [FALLING.log_density, RISING.log_density], EVEN
    )
    print(f"triangles: guessing errs in {guessing_error(EVEN)}, the best rule in {best:.4f}, or by draws {drawn.estimate:.4f}")
    found = {str(rows): nearest_error(rows, 1 + asked.trials // rows) for rows in (1, 10, 1000)}
    print("nearest neighbour with 1, 10, 1000 rows of each class: " + ", ".join(f"{error:.3f}" for error in found.values()))
    print(f"an error of {found['1000']:.3f} with ever more rows means a best one between {cover_hart(found['1000']).low:.3f} and itself")
    if asked.picture:
        above, _ = draw_posteriors([FALLING.density, RISING.density], EVEN, 0, 1, names=["falling", "rising"])
        above.figure.savefig(asked.picture)
    return dict(red=float(ballpen.probabilities[0]), bayes=best, nearest=found["1"], many=found["1000"])


if __name__ == "__main__":
    main()
