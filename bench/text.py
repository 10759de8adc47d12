"""Texts as rows: TF-IDF of documents of Zipf-like words."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload, build

THEIRS = "sklearn.feature_extraction.text.TfidfVectorizer"
DOCUMENTS, WORDS, VOCABULARY = 20_000, 100, 50_000


def documents(n: int, seed: int = 87) -> Data:
    """Documents of 100 words, drawn from 50,000 pseudo-words of 3 to 10 letters whose frequency falls as rank^-1.1."""
    rng = np.random.default_rng(seed)
    length, letters = rng.integers(3, 11, VOCABULARY), rng.integers(97, 123, (VOCABULARY, 10)).astype(np.uint8)
    words = np.array([bytes(letters[i, : length[i]]).decode() for i in range(VOCABULARY)], dtype=object)
    share = 1 / np.arange(1, VOCABULARY + 1) ** 1.1
    chosen = rng.choice(VOCABULARY, (n, WORDS), p=share / share.sum())
    return {"docs": [" ".join(words[row]) for row in chosen]}


def run(path: str, parameters: dict[str, Any], data: Data, meter: Meter) -> Quality:
    rows = meter.fit(build(path, **parameters).fit_transform, data["docs"])
    return {"mean": float(rows.sum() / rows.shape[0]), "columns": float(rows.shape[1]), "values": float(rows.nnz)}


def contender(name: str, library: str, path: str, role: Any = "peer", **parameters: Any) -> Contender:
    return Contender(name, library, partial(run, path, parameters), role)


WORKLOADS = (
    Workload(
        name="tfidf",
        about=f"TF-IDF, fit and transform: {DOCUMENTS:,} documents x {WORDS} words, Zipf(1.1)-like vocabulary of {VOCABULARY:,} words",
        make=lambda shrink: documents(make.shrunk(DOCUMENTS, shrink)),
        contenders=(
            contender("tenfold TfidfVectorizer", "tenfold", "tenfold.TfidfVectorizer", "tenfold"),
            contender("sklearn TfidfVectorizer", "sklearn", THEIRS),
            contender("sklearn TfidfVectorizer(analyzer=str.split)", "sklearn", THEIRS, analyzer=str.split),
        ),
        judgement=Judgement("mean", higher=True, tolerance=1e-9),
    ),
)
