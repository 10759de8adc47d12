"""Ensembles of small learners: AdaBoost of stumps."""

from __future__ import annotations

from . import data as make
from .plan import Contender, Judgement, Workload, fit_predict
from .scores import accuracy

ROUNDS = 200

ADABOOST = Workload(
    name="adaboost",
    about="AdaBoost of 200 stumps, 50k x 20 uniform columns, labels drawn by Friedman's surface; predict 10k rows",
    make=lambda shrink: make.friedman(make.shrunk(50_000, shrink), 20, seed=63, labels=True),
    contenders=(
        Contender(
            "tenfold AdaBoostClassifier",
            "tenfold",
            fit_predict("tenfold.AdaBoostClassifier", accuracy, n_estimators=ROUNDS),
            "tenfold",
        ),
        Contender(
            "sklearn AdaBoostClassifier",
            "sklearn",
            fit_predict("sklearn.ensemble.AdaBoostClassifier", accuracy, n_estimators=ROUNDS, random_state=0),
        ),
        Contender(
            "lightgbm, 200 rounds of two leaves (binned, logistic loss)",
            "lightgbm",
            fit_predict(
                "lightgbm.LGBMClassifier",
                accuracy,
                n_estimators=ROUNDS,
                num_leaves=2,
                learning_rate=0.3,
                n_jobs=2,
                verbose=-1,
            ),
            "reference",
        ),
    ),
    judgement=Judgement("accuracy", higher=True, tolerance=2e-3),
)

WORKLOADS = (ADABOOST,)
