"""What more rows bring, before anything is seen: which law of it is likeliest by what runs of `select` have seen.

    python -m bench.growth --results bench/rivals/runs.jsonl

Every run notes what models of K - 1 folds were ahead of those of K - 2 (`growth` in its record), on its training rows alone. With q for the
share of a loss that endlessly many rows would take off, q̂ for what was seen of it, s for the error of that and r for the share of what
the guess loses that the models take off, the likelihood of a law of q is ∫ N(q̂; q, s) dLaw(q). Compared are Beta(a, c) and Beta(a, c/r^k);
and s, where one model or two have judged all rows of a fold, times a factor. Tables count alike, however many runs there are of each.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import beta

from tenfold.selection.honest.growth import FEW_MODELS

ENDS = np.linspace(0, 1, 10_001) ** 2
AT = (ENDS[1:] + ENDS[:-1]) / 2
LARGEST = 1e6  # c/r^k of models that are hardly better than the guess
LEAST = 1e-4  # an error
FACTORS, CS = (1.0, 1.4, 2.0), (1.5, 2.0, 2.5, 3.0, 4.0, 5.0)


@dataclass(frozen=True)
class Seen:
    """Of one run: q̂, s, r, and whether K - 1 models have judged each row."""

    share: float
    error: float
    learned: float
    nested: bool

    def likelihood(self, a: float, c: float, k: float, factor: float) -> float:
        """Its logarithm, of the law Beta(a, c/r^k)."""
        error = max(self.error * (1.0 if self.nested else factor / FEW_MODELS), LEAST)
        law = _masses(a, round(min(c / max(self.learned, 1e-3) ** k, LARGEST), 3))
        return float(np.log((law * np.exp(-(((self.share - AT) / error) ** 2) / 2)).sum() / error + 1e-300))


@cache
def _masses(a: float, b: float) -> np.ndarray:
    return np.diff(beta(a, b).cdf(ENDS))


def seen(path: Path, nested_rows: int) -> dict[str, list[Seen]]:
    """By table what its runs have seen; nested_rows: of training, up to which the choice was nested."""
    found = defaultdict(list)
    for text in path.read_text().splitlines():
        line = json.loads(text)
        one = line.get("growth")
        if one and "learned" in one:
            scale = (one["folds"] - 2) / one["loss"]
            found[line["table"]].append(Seen(scale * one["gain"], scale * one["error"], one["learned"], line["rows"] <= nested_rows))
    return dict(found)


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__, formatter_class=form)
    parser.add_argument("--results", type=Path, required=True, help="lines of bench.rivals, of 0.21 or later")
    parser.add_argument("--nested-rows", type=int, default=2000, help="up to which the choice was nested: 2,000 with effort normal")
    asked = parser.parse_args()
    tables = seen(asked.results, asked.nested_rows)
    print(f"{len(tables)} tables, {sum(map(len, tables.values()))} runs; sum over tables of the mean log likelihood of their runs")
    for factor, a, k in product(FACTORS, (0.5, 1.0), (0.0, 1.0, 2.0)):
        by_c = {c: sum(float(np.mean([one.likelihood(a, c, k, factor) for one in runs])) for runs in tables.values()) for c in CS}
        best, all_of_them = max(by_c, key=lambda c: by_c[c]), "  ".join(f"{c:g}: {one:.2f}" for c, one in by_c.items())
        print(f"factor {factor:g}   Beta({a:g}, c/r^{k:g})   likeliest c {best:g}: {by_c[best]:.2f}   of {all_of_them}")


if __name__ == "__main__":
    main()
