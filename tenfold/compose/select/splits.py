"""Scores of a learner on some of the columns, on the same splits every time."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.foreign import own_of, takes
from tenfold.compose.search.by_verbs import PairPlan, goes_by_verbs
from tenfold.compose.search.folds import rounds_of_search
from tenfold.compose.select.of_learner import Table, columns_of, labelled, table_in_memory
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.learning import Keep
from tenfold.core.stats import Moments
from tenfold.evaluate.split.splitting import Splitting
from tenfold.evaluate.validate.by_verbs import splits_by_verbs
from tenfold.evaluate.validate.held_out import outputs_of, prepared, split_models, training_statistics
from tenfold.evaluate.validate.judges import score_of
from tenfold.evaluate.validate.memory import table_of
from tenfold.score.record import Score
from tenfold.score.registry import find_score
from tenfold.score.scoring import check_scoring
from tenfold.solve.subsets import Held


@dataclass
class Splits:
    """The rows of a selector, its learner, its splits and what judges: greater is better."""

    selector: Any
    member: Estimator
    rows: Arrays
    table: Table
    rounds: list[Any]  # plans of splits
    judge: Score | None  # None: models are asked by their verbs

    @classmethod
    def of(cls, selector: Any, source: Source, scoring: Any) -> Generator[Any, Any, Splits]:
        member = selector._member
        if isinstance(source, Arrays):
            rows, table = source, (yield from table_in_memory(source))
        else:
            kept = yield Keep(sparse=True)
            rows, table = table_of(kept, source, member.missing), labelled(source, kept)
        by_verbs = goes_by_verbs(own_of(member), scoring, vars(selector).get("_more", {}), table[1])
        by_verbs = by_verbs or source.facts.get("categories_") is not None
        classes = source.target.classes
        judge = None
        if not by_verbs:
            n_classes = None if classes is None else len(classes)
            judge = find_score(scoring, role=member.role, n_classes=n_classes, parameter="scoring", owner=type(selector).__name__)
        rounds: list[Any]
        if source.target.kind == "none":
            rounds = [PairPlan(splits_by_verbs(own_of(member), table[0], None, Splitting(cv=selector.cv)))]
        else:
            rounds, _ = rounds_of_search(selector, member, rows, vars(selector).get("_groups"))
        return cls(selector, member, rows, table, rounds, judge)

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        """Row numbers to train on, and those held out."""
        return [(one.train_rows(k), one.test_rows(k)) for one in self.rounds for k in range(len(one))]

    @cached_property
    def scorer(self) -> Any:
        return check_scoring(self.selector.estimator, self.selector.scoring)

    def asked(self, model: Any, test: Array, columns: Array) -> float:
        """The score of a model that is asked by its verbs."""
        X, y, w = self.table
        given = (columns_of(X[test], columns),) if y is None else (columns_of(X[test], columns), y[test])
        more = {"sample_weight": w[test]} if w is not None and takes(self.scorer, "sample_weight") else {}
        return float(self.scorer(model, *given, **more))

    def scores(self, columns: Array) -> Array:
        """(splits): of the learner on these columns."""
        X, y, w = self.table
        if self.judge is None:
            found = []
            for train, test in self.pairs:
                part = X[train], None if y is None else y[train], None if w is None else w[train]
                found.append(self.asked(self.selector._fitted_member(*part, columns), test, columns))
            return np.array(found)
        rows, scores = some_columns(self.rows, columns), list[float]()
        for one in self.rounds:
            models, _ = split_models(self.member, rows, one)
            tests = [one.test_rows(k) for k in range(len(one))]
            outputs = outputs_of(models, rows, tests)
            scores += [self.judge.sign * score_of(self.judge, rows, test, out) for test, out in zip(tests, outputs, strict=True)]
        return np.array(scores)

    def statistics(self) -> list[tuple[Any, Any]] | None:
        """Of every split those of the training rows and of the rows held out, each over all columns; None where there are none."""
        template, found = prepared(self.member, self.rows), list[tuple[Any, Any]]()
        for one in self.rounds:
            both = training_statistics(template, self.rows, one) if one.kind == "folds" and not one.single else None
            if both is None:
                return None
            found += list(zip(both[1], both[0], strict=True))
        return found

    def held(self) -> list[Held] | None:
        """The splits as normal equations, for a learner of least squares with a score of squares and one target; else None."""
        if self.judge is None or self.judge.of_squares is None or self.rows.n_targets != 1:
            return None
        found, template = list[Held](), prepared(self.member, self.rows)
        for training, tested in self.statistics() or []:
            equations = template._normal_equations(training)
            if equations is None or not isinstance(tested, Moments):
                return None
            mean, A, b = equations
            found.append(Held(mean, A, b[:, 0], tested, bool(template.fit_intercept)))
        return found or None


def some_columns(rows: Arrays, columns: Array) -> Arrays:
    """The same rows with some of their columns."""
    facts = {key: fact for key, fact in rows.facts.items() if key not in ("feature_names_in_", "categories_")}
    facts["n_features_in_"] = len(columns)
    return Arrays(columns_of(rows.X, columns), rows.y, rows.w, rows.target, facts, rows=rows.rows, missing=rows.missing, double=rows.double)
