"""From what was measured: which settings to try, in which order, and which rule makes one model of them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np

from bench.portfolio import rules
from bench.portfolio.stored import Measured, read_store

STRATA = ((0, 500), (500, 2000), (2000, 10**9))  # training rows
MOST = 24  # settings of an order
SHARES = (1e-4, 1e-3, 3e-3, 1e-2, 2e-2)  # of the class frequencies in every probability
NO_TIME = 0.3  # seconds that everything takes


def gained(table: Measured, error: float | np.ndarray) -> float | np.ndarray:
    """0 for the guess, 1 for the best single setting in hindsight."""
    best = float(np.min(table.error(table.refit, table.unseen)))
    return (table.guess - error) / max(table.guess - best, 1e-12)


def one_by_setting(table: Measured) -> Measured:
    """Of each setting the value with the least held-out error."""
    errors, keep = rules.held_out_errors(table), {}
    for c, column in enumerate(table.columns):
        if column.setting not in keep or errors[c] < errors[keep[column.setting]]:
            keep[column.setting] = c
    return table.only(np.isin(np.arange(len(table.columns)), list(keep.values())))


def order(tables: list[Measured], most: int = MOST, by_time: float = 0.25) -> list[tuple[str, float]]:
    """Settings, each the one that raises the mean of what a small greedy ensemble gains most, by the time it takes to a power.

    A setting that some table does not have counts there as nothing.
    """
    small = [one_by_setting(table) for table in tables]
    names = sorted({column.setting for table in small for column in table.columns})
    times: dict[str, list[float]] = defaultdict(list)
    for table in small:
        for column in table.columns:
            times[column.setting].append(column.seconds)
    chosen: list[str] = []
    rule = rules.greedy(8, pool=12)

    def value(table: Measured, settings: list[str]) -> float:
        keep = np.array([column.setting in settings for column in table.columns])
        if not keep.any():
            return 0.0
        part = table.only(keep)
        weights = rule(part) if keep.sum() > 1 else np.ones(1)
        found = rules.combined(part, weights, part.refit)
        return max(float(gained(table, part.error(found, table.unseen))), 0.0)  # one table of hardly any signal does not decide

    found, so_far = [], [0.0] * len(small)
    while len(chosen) < min(most, len(names)):
        best, after = -np.inf, None
        for name in names:
            if name in chosen:
                continue
            new = [
                value(table, [*chosen, name]) if any(column.setting == name for column in table.columns) else old
                for table, old in zip(small, so_far, strict=True)
            ]
            gain = float(np.mean(new) - np.mean(so_far))
            rate = gain / (NO_TIME + float(np.mean(times[name]))) ** by_time if gain > 0 else gain
            if rate > best:
                best, after, pick = rate, new, name
        assert after is not None
        chosen.append(pick)
        so_far = after
        found.append((pick, float(np.mean(so_far))))
    return found


RULES: dict[str, tuple[rules.Rule, bool]] = {
    "best single": (rules.single, False),
    "cheapest as good": (rules.cheapest, False),
    "mean of best 3": (rules.mean_of(3), False),
    "mean of best 5": (rules.mean_of(5), False),
    "mean of best 10": (rules.mean_of(10), False),
    "mean of best 5, logits": (rules.mean_of(5), True),
    "greedy 10": (rules.greedy(10), False),
    "greedy 25": (rules.greedy(25), False),
    "greedy 25 from 3": (rules.greedy(25, start=3), False),
    "greedy 25 from 5": (rules.greedy(25, start=5), False),
    "greedy 25, any of a kind": (rules.greedy(25, by_kind=30), False),
    "greedy 25, logits": (rules.greedy(25, logits=True), True),
    "convex 15": (rules.convex(15), False),
    "convex 6, 2 of a kind": (rules.convex(6, 2), False),
}


def compare(tables: list[Measured]) -> None:
    """What each rule gains on rows kept apart, of the refit, of the mean of the fold models, and with a temperature."""
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for table in tables:
        for share in SHARES if table.classes else ():
            for name in ("best single", "greedy 25"):
                smooth = table.smoothed(share)
                found = rules.combined(smooth, RULES[name][0](smooth), smooth.refit)
                scores[f"{name}, {share:g} of the frequencies"][table.name] = float(gained(table, table.error(found, table.unseen)))
        for name, (rule, logits) in RULES.items():
            weights = rule(table)
            held = rules.combined(table, weights, table.held_out, logits)
            t = rules.temperature(table, held)
            for how, outputs in (("", table.refit), (" | folds", table.folds)):
                said = rules.combined(table, weights, outputs, logits)
                scores[name + how][table.name] = float(gained(table, table.error(said, table.unseen)))
                if table.classes:
                    said = rules.warmed(table, said, t)
                    scores[name + how + " | temperature"][table.name] = float(gained(table, table.error(said, table.unseen)))
    base = scores["best single"]
    print(f"{'rule':48} mean gain   against best single (mean ± s.e., wins/tables)   by rows {STRATA}")
    for name, by_table in scores.items():
        apart = np.array([by_table[key] - base[key] for key in by_table])
        known = [table for table in tables if table.name in by_table]
        strata = [np.mean([by_table[t.name] for t in known if low <= len(t.y) < high] or [np.nan]) for low, high in STRATA]
        print(
            f"{name:48} {np.mean(list(by_table.values())):.4f}   {apart.mean():+.4f} ± {apart.std(ddof=1) / np.sqrt(len(apart)):.4f}  "
            f"{int((apart > 0).sum())}/{len(apart)}   {' '.join(f'{one:.3f}' for one in strata)}"
        )


def left_out(tables: list[Measured], sizes: tuple[int, ...] = (4, 8, 12, 16, 24)) -> None:
    """Orders learned without a table, tried on it: what the greedy ensemble and the best single gain with the first few settings."""
    print("\nleave one table out: gains with the first settings of an order learned on the others")
    rows = defaultdict(list)
    for table in tables:
        names = [name for name, _ in order([other for other in tables if other is not table])]
        for size in sizes:
            part = table.only(np.array([column.setting in names[:size] for column in table.columns]))
            for name, rule in (("best single", rules.single), ("greedy 25", rules.greedy(25))):
                found = rules.combined(part, rule(part), part.refit)
                rows[name, size].append(float(gained(table, part.error(found, table.unseen))))
    for (name, size), values in rows.items():
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        print(f"  {name:12} first {size:2}: {np.mean(values):.4f} ± {error:.4f}, least {min(values):.3f}")


def singles(tables: list[Measured]) -> None:
    """Each setting alone (its best value by held-out error), over the tables that have it: gain, rank share, seconds."""
    rows = defaultdict(list)
    for table in tables:
        small = one_by_setting(table)
        errors = small.error(small.refit, small.unseen)
        ranks = np.argsort(np.argsort(errors)) / max(len(errors) - 1, 1)
        for column, error, rank in zip(small.columns, errors, ranks, strict=True):
            rows[column.setting].append((max(float(gained(table, error)), -1.0), rank, column.seconds, column.value))
    print(f"\n{'setting':60} tables  gain   rank  seconds  values chosen")
    for name, found in sorted(rows.items(), key=lambda one: np.mean([row[1] for row in one[1]])):
        gain, rank, seconds, _ = np.mean(found, axis=0)
        values = sorted(row[3] for row in found)
        some = " ".join(f"{value:.3g}" for value in values[:: max(1, len(values) // 8)])
        print(f"{name:60} {len(found):4}   {gain:.3f}  {rank:.2f}  {seconds:7.2f}  {some}")


def learn(store: Path) -> None:
    everything = read_store(store)
    for role, tables in (("classes", [t for t in everything if t.classes]), ("numbers", [t for t in everything if not t.classes])):
        if len(tables) < 3:
            continue
        print(f"\n=== {role}: {len(tables)} tables: {', '.join(f'{t.name} {len(t.columns)}' for t in tables)}")
        notes = {(t.name, name): note for t in tables for name, note in t.notes.items()}
        for (table, name), note in list(notes.items())[:20]:
            print(f"  not measured: {table} {name}: {note[:100]}")
        singles(tables)
        print("\norder")
        for place, (name, value) in enumerate(order(tables), 1):
            print(f"  {place:2} {name:60} {value:.4f}")
        compare(tables)
        left_out(tables)
