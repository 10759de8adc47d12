"""python -m bench.quality: how good trees are on real tables, at their defaults, against their peers.

Ten folds, the same for all (of each class its share, shuffled from a fixed seed). Classes are scored by log loss and by
accuracy, numbers by R². Within a table the contenders of RANKED are ranked by their mean score over the folds (equal scores
share the mean of their ranks), and ranks are averaged over tables. The rule was fixed before the first run.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import tenfold

from .tables import LEFT_OUT, Table, folds, tables_in

OURS = "tenfold HistGradientBoosting"
RANKED = (OURS, "lightgbm", "xgboost", "sklearn HistGradientBoosting", "sklearn RandomForest")
SCORES = {True: ("log loss", "accuracy"), False: ("R2",)}  # the first one ranks
LOWER_IS_BETTER = frozenset({"log loss"})
SMALLEST = 1e-15  # a probability of zero would cost infinitely much
Results = dict[str, dict[str, dict[str, Any]]]  # by table and contender


def _tenfold(name: str) -> Callable[[bool], Any]:
    def make(classes: bool) -> Any:
        return getattr(tenfold, name + ("Classifier" if classes else "Regressor"))(random_state=0)

    return make


def _lightgbm(classes: bool) -> Any:
    import lightgbm

    return (lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor)(n_jobs=1, random_state=0, verbosity=-1)


def _xgboost(classes: bool) -> Any:
    import xgboost

    kind = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
    return kind(tree_method="hist", enable_categorical=True, n_jobs=1, random_state=0)


def _sklearn_hist(classes: bool) -> Any:
    """Without columns that are wholly empty: with them it fails."""
    from sklearn import ensemble
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    kind = ensemble.HistGradientBoostingClassifier if classes else ensemble.HistGradientBoostingRegressor
    some = make_column_transformer(("passthrough", _not_empty), verbose_feature_names_out=False)
    model = kind(categorical_features="from_dtype", random_state=0)
    return make_pipeline(some.set_output(transform="pandas"), model)


def _not_empty(X: Any) -> list[str]:
    return [column for column in X.columns if X[column].notna().any()]


def _sklearn_forest(classes: bool) -> Any:
    """Categories as ordinal codes, blanks as the median: this forest reads neither."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
    known = make_column_transformer(
        (codes, make_column_selector(dtype_include="category")),
        remainder=SimpleImputer(strategy="median", keep_empty_features=True),
    )
    return make_pipeline(known, (RandomForestClassifier if classes else RandomForestRegressor)(random_state=0))


CONTENDERS: dict[str, Callable[[bool], Any]] = {
    "lightgbm": _lightgbm,
    "xgboost": _xgboost,
    "sklearn HistGradientBoosting": _sklearn_hist,
    "sklearn RandomForest": _sklearn_forest,
    OURS: _tenfold("HistGradientBoosting"),
    "tenfold GradientBoosting": _tenfold("GradientBoosting"),
    "tenfold RandomForest": _tenfold("RandomForest"),
    "tenfold ExtraTrees": _tenfold("ExtraTrees"),
}


def scored(table: Table, make: Callable[[bool], Any]) -> dict[str, list[float]]:
    """Every score on each of the ten folds."""
    scores: dict[str, list[float]] = {name: [] for name in SCORES[table.n_classes > 0]}
    for held in folds(table):
        train = np.setdiff1d(np.arange(len(table.y)), held)
        model = make(table.n_classes > 0).fit(table.X.iloc[train], table.y[train])
        X, y = table.X.iloc[held], table.y[held]
        if not table.n_classes:
            scores["R2"].append(float(1 - np.mean((y - model.predict(X)) ** 2) / np.var(y)))
            continue
        said = np.zeros((len(y), table.n_classes))
        said[:, np.asarray(model.classes_, dtype=np.int64)] = model.predict_proba(X)
        said = np.clip(said, SMALLEST, 1.0)
        said /= said.sum(axis=1, keepdims=True)
        scores["log loss"].append(float(-np.log(said[np.arange(len(y)), y]).mean()))
        scores["accuracy"].append(float((said.argmax(axis=1) == y).mean()))
    return scores


def ranks(results: Results, score: int = 0, ranked: Sequence[str] = RANKED) -> dict[str, dict[str, float]]:
    """By table, the rank of each contender by its mean score; only of tables that have them all."""
    told: dict[str, dict[str, float]] = {}
    for table, by_who in results.items():
        if not set(ranked) <= set(by_who):
            continue
        names = list(by_who[ranked[0]]["scores"])
        name = names[min(score, len(names) - 1)]
        sign = 1 if name in LOWER_IS_BETTER else -1
        means = sign * np.array([np.mean(by_who[who]["scores"][name]) for who in ranked])
        better = (means[:, None] > means[None, :]).sum(axis=1)
        equal = (means[:, None] == means[None, :]).sum(axis=1)
        told[table] = dict(zip(ranked, better + (equal + 1) / 2, strict=True))
    return told


def page(results: Results) -> str:
    """The mean scores of every table, the ranks, and their means."""
    who = [name for name in CONTENDERS if any(name in by_who for by_who in results.values())]
    lines = ["| table | score | " + " | ".join(who) + " |", "|---|---|" + "---:|" * len(who)]
    for table, by_who in results.items():
        for score in next(iter(by_who.values()))["scores"]:
            cells = [f"{np.mean(by_who[one]['scores'][score]):.4f}" if one in by_who else "" for one in who]
            lines.append(f"| {table} | {score} | " + " | ".join(cells) + " |")
    for title, score in (("log loss and R2", 0), ("accuracy and R2", 1)):
        told = list(ranks(results, score).values())
        if told:
            lines += ["", f"Mean rank of {len(told)} tables by {title}:", ""]
            lines += [f"* {one}: {np.mean([table[one] for table in told]):.2f}" for one in RANKED]
            for one in who:  # what else there is, in the place of ours
                if one.startswith("tenfold") and one != OURS:
                    other = list(ranks(results, score, (one, *RANKED[1:])).values())
                    if other:
                        mean = np.mean([table[one] for table in other])
                        lines.append(f"* {one}, in the place of {OURS}: {mean:.2f} ({len(other)} tables)")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    names = (
        list(CONTENDERS) if asked.who is None else [n for n in CONTENDERS if any(w in n for w in asked.who.split(","))]
    )
    out = Path(asked.json) if asked.json else None
    results = _stored(out)
    if not asked.only:
        for name, why in LEFT_OUT.items():
            print(f"{name} is left out: {why}")
    for table in tables_in(Path(asked.tables), asked.only.split(",") if asked.only else None):
        for who in names:
            if who in results.get(table.name, {}) and not asked.again:
                continue
            began = time.perf_counter()
            with tenfold.threads(1), threadpool_limits(1), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scores = scored(table, CONTENDERS[who])
            results = _stored(out) if out else results  # another run may have added to it
            results.setdefault(table.name, {})[who] = {
                "scores": scores,
                "seconds": round(time.perf_counter() - began, 2),
            }
            means = ", ".join(f"{name} {np.mean(values):.4f}" for name, values in scores.items())
            print(f"{table.name:20s} {who:30s} {means}  ({results[table.name][who]['seconds']:.0f} s)", flush=True)
            if out:
                new = out.with_suffix(".new")
                new.write_text(json.dumps(results, indent=1))
                new.replace(out)
    print("\n" + page(results))
    return 0


def _stored(out: Path | None) -> Results:
    return json.loads(out.read_text()) if out is not None and out.exists() else {}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__.splitlines()[0])
    parser.add_argument("--tables", required=True, metavar="DIR", help="the folder of NAME.csv.gz")
    parser.add_argument("--only", metavar="TABLE[,TABLE]", help="these tables")
    parser.add_argument("--who", metavar="TEXT[,TEXT]", help="contenders whose name contains one of these")
    parser.add_argument("--json", metavar="FILE", help="results, kept as they come; what is there is not run again")
    parser.add_argument("--again", action="store_true", help="run also what FILE holds already")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
