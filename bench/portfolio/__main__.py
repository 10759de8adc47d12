"""`python -m bench.portfolio measure|learn|order`."""

from __future__ import annotations

import argparse
from pathlib import Path

parser = argparse.ArgumentParser(prog="python -m bench.portfolio", description=__doc__)
parser.add_argument("what", choices=("measure", "learn", "order"))
parser.add_argument("--tables", type=Path, required=True, help="folder of NAME.csv.gz, last column target")
parser.add_argument("--store", type=Path, required=True, help="folder of the outputs")
parser.add_argument("--only", nargs="*", help="names of tables")
parser.add_argument("--processes", type=int, default=2)
parser.add_argument("--stages", type=int, default=3, help="1: the most promising settings alone; 3: all")
asked = parser.parse_args()
if asked.what == "measure":
    from bench.portfolio.measure import measure

    measure(asked.tables, asked.store, asked.processes, asked.only, asked.stages)
elif asked.what == "order":
    from bench.portfolio.order import compare_orders

    compare_orders(asked.tables, asked.store, asked.processes, asked.only)
else:
    from bench.portfolio.learn import learn

    learn(asked.store)
