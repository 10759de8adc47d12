"""Ratios and targets: what the rows of a race mean."""

from __future__ import annotations

from collections.abc import Sequence

from .plan import Finding, Report, Row, Workload

LEAST_RATIO = 1.0  # at least as fast as the fastest peer
MOST_MEMORY = 0.5  # of what scikit-learn needs beyond the data
MEMORY_NOISE_MB = 2.0  # the kernel counts pages in batches: less than this cannot be told from nothing


def judge(workload: Workload, report: Report) -> None:
    """Write the ratios into Tenfold's row, and the figures that have a target into the findings."""
    ours = next((row for row in report.rows if row.role == "tenfold" and row.ok), None)
    if ours is None:
        return
    peers = [row for row in report.rows if row.role == "peer" and row.ok]
    if peers:
        _judge_time(workload, ours, peers, report)
    _judge_memory(ours, report)
    if workload.own_cost is not None:
        _judge_own_cost(workload, ours, report)


def _judge_time(workload: Workload, ours: Row, peers: Sequence[Row], report: Report) -> None:
    fastest = min(peers, key=fit_seconds)
    ours.ratio = fit_seconds(fastest) / fit_seconds(ours)
    predicting = [row.predict_s for row in peers if row.predict_s is not None]
    if predicting and ours.predict_s is not None:
        ours.predict_ratio = min(predicting) / ours.predict_s
    text, met = f"fit: {fastest.who} / {ours.who}", ours.ratio >= LEAST_RATIO
    if workload.judgement.worse(ours.quality, fastest.quality):
        key = workload.judgement.key
        text += f", but {key} is worse ({ours.quality[key]:.8g}, theirs {fastest.quality[key]:.8g})"
        met = False
    doubtful = ours.disturbed or fastest.disturbed
    report.findings.append(Finding(ours.workload, text, ours.ratio, f">= {LEAST_RATIO:g}", met, doubtful))


def _judge_memory(ours: Row, report: Report) -> None:
    theirs = [row for row in report.rows if row.library == "sklearn" and row.ok and row.memory_mb is not None]
    if not theirs or ours.memory_mb is None:
        return
    # Where no peer of scikit-learn ran, its reference (one plain fit) is the harder yardstick.
    other = min(theirs, key=lambda row: (row.role != "peer", fit_seconds(row)))
    assert other.memory_mb is not None
    ours.memory_ratio = ours.memory_mb / max(other.memory_mb, MEMORY_NOISE_MB)
    met = ours.memory_ratio < MOST_MEMORY or ours.memory_mb <= MEMORY_NOISE_MB
    text = f"memory beyond the data: {ours.who} / {other.who}"
    report.findings.append(Finding(ours.workload, text, ours.memory_ratio, f"< {MOST_MEMORY:g}", met))


def _judge_own_cost(workload: Workload, ours: Row, report: Report) -> None:
    assert workload.own_cost is not None
    bound = workload.own_cost.at_most
    reference = next((row for row in report.rows if row.who == workload.own_cost.reference and row.ok), None)
    if reference is None:
        return
    multiple = fit_seconds(ours) / (fit_seconds(reference) + (reference.predict_s or 0.0))
    text = f"own cost: {ours.who} / {reference.who}"
    doubtful = ours.disturbed or reference.disturbed
    report.findings.append(Finding(ours.workload, text, multiple, f"<= {bound:g}", multiple <= bound, doubtful))


def fit_seconds(row: Row) -> float:
    assert row.fit_s is not None
    return row.fit_s
