"""Records of runs and held-out predictions for the tests of the report, with any text in every place where a text can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl


def record_of(classes: bool, text: str = "", columns: int = 6) -> dict[str, Any]:
    """What run.json would hold; `text` is put into every name."""
    metric, other = ("log_loss", "accuracy") if classes else ("rmse", "r2")
    value, base = (0.41, 0.69) if classes else (4.0, 10.0)

    def estimate(name: str, at: float) -> dict[str, Any]:
        return dict(metric=name, value=at, low=0.9 * at, high=1.1 * at, error=0.05 * at, method=f"nested {text}")

    def place(model: str, score: float, against: str, rank: int) -> dict[str, Any]:
        return dict(
            model=f"{model}{text}", family=f"{model}{text}", score=score, error=0.01, against=against,
            rank=rank, seconds=0.02 * rank + 0.01, reason=None,
            others={other: 0.6},
        )  # fmt: skip

    names = [f"x{j}{text}" for j in range(columns)]
    return dict(
        made_by="tenfold select", tenfold="0.7.0", python="3.11", numpy="2.0", polars="1.0",
        data=dict(name=f"churn{text}.csv", sha256="ab" * 32, rows=400, columns=columns + 1, rows_used=400, place="cd" * 32),
        settings=dict(
            target=f"left{text}",
            task="classes" if classes else "number",
            metric=metric,
            folds=5,
            seed=0,
            drop=[f"id{text}"],
            keep=[],
            category=[],
        ),
        columns=[
            dict(name=name, kind="number", note=f"11 blanks {text}" if j % 3 == 0 else None, undo=None if j % 3 else "keep", form=None)
            for j, name in enumerate(names)
        ],
        chosen=f"an ensemble{text}", tied=[f"forest{text}"], signal=True,
        members=[
            dict(model=f"forest{text}", family=f"forest{text}", weight=0.7),
            dict(model=f"ridge{text}, penalty 1", family=f"ridge{text}", weight=0.3),
        ],
        simple=dict(model=f"ridge{text}", estimate={metric: estimate(metric, value)}),
        board=[place("forest", value, "best", 2), place("ridge", 1.05 * value, "as good", 1), place("tree", 1.2 * value, "worse", 3),
               place("guess", base, "baseline", 0)],
        trace=[dict(family=f"forest{text}", scores=[value * f for f in (1, 1.1, 0.9, 1, 1.02)], dropped=None),
               dict(family=f"ridge{text}", scores=[value * f for f in (1.1, 1.0, 1.0, 1.1, 1.05)], dropped=None),
               dict(family=f"tree{text}", scores=[1.3 * value, 1.2 * value, None, None, None], dropped=2)],
        search=dict(gain=dict(metric=metric, value=0.2, low=0.1, high=0.3), estimates={metric: estimate(metric, value)}),
        estimate={metric: estimate(metric, value), other: estimate(other, 0.8)},
        curve=[
            dict(rows=100, score=1.4 * value, low=1.2 * value, high=1.6 * value),
            dict(rows=400, score=value, low=0.9 * value, high=1.1 * value),
        ],
        reach=None if classes else 7.0, reaches=None if classes else [[5.0, 20.0], [4.0, 9.0]],
        warnings={f"ridge{text}": f"slow {text}"}, failures={f"svm{text}": f"failed {text}"}, notes=[f"3 rows without a target {text}"],
        suspects=[[f"x0{text}", f"AUC 0.99 {text}"]], copies=3,
        tried=[
            *(
                dict(label=f"ridge{text}, penalty {10.0**k:g}", family=f"ridge{text}", score=value * (1 + 0.01 * k * k), error=0.02 * value,
                     against="", seconds=0.01)
                for k in range(-2, 3)
            ),
            dict(label=f"forest{text}, power 1.5", family=f"forest{text}", score=value, error=0.02, against="", seconds=0.01),
        ],
        interrupted=False, folds_sha256="ef" * 32, seconds=dict(total=12.0),
    )  # fmt: skip


def held_out_of(classes: int, text: str = "", n: int = 400, seed: int = 0) -> pl.DataFrame:
    """Predictions that are partly right; 0 classes are numbers."""
    rng = np.random.default_rng(seed)
    columns: dict[str, Any] = dict(row=np.arange(n), fold=rng.integers(0, 5, n))
    if not classes:
        truth = rng.gamma(2.0, 5.0, n)
        return pl.DataFrame(columns | dict(truth=truth, prediction=truth + rng.normal(0, 3.0, n)))
    labels = [f"c{k}{text}" for k in range(classes)]
    codes = rng.integers(0, classes, n) if classes > 2 else (rng.random(n) < 0.3).astype(int)
    scores = rng.normal(size=(n, classes)) + 1.5 * np.eye(classes)[codes]
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truth_texts = [labels[k] for k in codes]
    return pl.DataFrame(columns | dict(truth=truth_texts) | {f"chance of {label}": shares[:, k] for k, label in enumerate(labels)})


def explained_of(classes: bool, text: str = "", columns: int = 6) -> dict[str, Any]:
    """What `selection.explain.drivers` would say."""
    names = [f"x{j}{text}" for j in range(columns)]
    outputs = [f"P(c1{text})"] if classes else ["prediction"]
    number = dict(column=names[0], outputs=outputs, grid=[0.0, 1.0, 2.0], effect=[[-0.2, 0.0, 0.3]], rug=[0.1, 0.5, 1.7])
    levels = dict(column=names[1], outputs=outputs, levels=[f"red{text}", f"blue{text}"], rows=[60, 40], effect=[[-0.1, 0.2]])
    return dict(
        rows=400, missing=dict.fromkeys(names, 3), columns=dict(
            names=names,
            strengths=[0.99, *[0.6] * (columns - 1)],
        ), strength_is="AUC" if classes else "R²",
        importance=[dict(column=name, fall=0.3 - 0.04 * j, low=0.2 - 0.05 * j, high=0.4) for j, name in enumerate(names[:6])],
        importance_of=columns, metric="log_loss" if classes else "rmse", baseline=0.4, held_out_rows=100, effects=[number, levels],
        interactions=[dict(columns=names[:2], share=0.3, size=0.2)],
        slices=dict(
            groups=31,
            least=15,
            mean=0.4,
            found=1,
            of=f"log loss{text}",
            worse=[dict(column=names[2], group=f"red{text}", rows=30, loss=0.9, p=1e-5)],
        ),
        residuals=[] if classes else [dict(column=names[0], x=[0.0, 1.0], low=[-3.0, -3.0], middle=[0.0, 0.1], high=[3.0, 3.0])],
        sizes=[dict(rows=10 * 2**k, score=0.8 - 0.1 * k, low=0.7 - 0.1 * k, high=0.9 - 0.1 * k) for k in range(4)],
        inside=dict(
            kind="linear", learner=f"Ridge({text})", weight=0.7, total=9, used=6, scaled=True, classes=[f"c1{text}"] if classes else [],
            terms=[dict(name=names[0], values=[1.5]), dict(name=names[1], values=[-0.5])],
        ),
        inside_simple=dict(kind="tree", learner=f"Tree({text})", weight=1.0, leaves=2, text=f"|--- x0{text} <= 1\n|--- x0{text} > 1"),
        order=dict(
            groups=[names[0]], time=[names[1]],
            drift=dict(rows=100, of=6, changed=9, columns=[dict(column=names[2], size="strong", how=f"'a{text}' 3%, was 9%", target=True)]),
        ),
        first_seen=[dict(column=names[1], share=0.02, rows=8, levels=3)],
        examples=[
            dict(
                which="largest", row=7, said=f"c1{text}", value=0.8, what=f"c1{text}", base=0.5, rest=-0.1,
                columns=[dict(column=names[0], adds=0.4, error=0.01)],
            )
        ],
        fair=dict(
            column=f"sex{text}",
            of="log loss",
            mean=0.4,
            used=True,
            small=dict(groups=2, rows=9, least=15),
            more=1,
            groups=[
                dict(
                    group=f"{name}{text}", rows=200, loss=dict(value=0.4, low=0.3, high=0.5), said=0.3, true=0.31,
                    gap=dict(value=-0.01, low=-0.05, high=0.03), differs=differs,
                ) | (dict(flagged=0.3, found=0.8, alarms=None) if classes else {})
                for name, differs in (("f", True), ("m", False))
            ],
        ) | ({"class": f"c1{text}"} if classes else {}),
    )  # fmt: skip
