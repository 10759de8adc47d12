"""How often each rule of `tenfold.choose_clusters` finds the number of groups: python -m bench.choose [--fitted] [--tables N] [--seed S]

On worlds that played no part in the choice of the recommendation (`REPORTED` in cluster_worlds.py), or on those by which it was chosen
(--fitted).
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterable

import tenfold
from bench.cluster_worlds import FITTED, REPORTED, World

RECOMMENDED = "recommended"


def main() -> None:
    parser = argparse.ArgumentParser(description="how often each rule finds the number of groups")
    parser.add_argument("--fitted", action="store_true", help="the worlds by which the recommendation was chosen")
    parser.add_argument("--tables", type=int, default=1, metavar="N", help="tables of each world")
    parser.add_argument("--seed", type=int, default=1000, metavar="S", help="of the first table")
    given = parser.parse_args()
    right: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    began = time.process_time()
    worlds = FITTED if given.fitted else REPORTED
    for seed in range(given.seed, given.seed + given.tables):
        for world in worlds:
            found = tenfold.choose_clusters(world.table(seed), random_state=seed)
            for rule, number in [(RECOMMENDED, found.clusters), *((one.rule, one.clusters) for one in found.rules)]:
                for part in _parts(world):
                    right[rule][part].append(number == world.groups)
    tables = given.tables * len(worlds)
    print(f"right for so many of 100 tables; {tables} tables, {(time.process_time() - began) / tables:.2f} s of CPU time each\n")
    parts = list(right[RECOMMENDED])
    print(f"| {'tables':<32} |" + "".join(f" {rule} |" for rule in right))
    print("|---|" + "---|" * len(right))
    for part in ["all", *sorted(one for one in parts if one != "all")]:
        print(f"| {part:<32} |" + "".join(f" {_share(right[rule][part])} |" for rule in right))


def _parts(world: World) -> list[str]:
    shape = world.name if world.groups == 1 else world.name.partition(",")[0]
    kinds = [f"{world.groups} groups" if world.groups > 1 else "no groups", f"{world.columns} columns", f"rows: {world.rows}"]
    apart = [f"{world.apart:g} apart"] if world.groups > 1 else []
    return ["all", *kinds, f"{'no groups' if world.groups == 1 else 'groups'}: {shape}", *apart]


def _share(right: Iterable[bool]) -> str:
    some = list(right)
    return f"{100 * sum(some) / len(some):.0f}"


if __name__ == "__main__":
    main()
