"""A race on disk while it runs, so that a run that was killed or stopped can go on where it was, and end as if nothing had happened.

One file beside the folder of the run, FOLDER.race: what the families have said so far, and what was asked for. It is replaced whole, at
most every few seconds, and removed when the run is finished. It holds no rows, but what models say of them.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tenfold
from tenfold.core.errors import BadFile
from tenfold.evaluate.validate.training_sets import Held
from tenfold.saved.archive import require
from tenfold.saved.writing import replacing
from tenfold.selection.plan.candidates import Family
from tenfold.selection.race.race import Race

EVERY = 5.0  # seconds between two writings
OTHER = "of another table, or of another version: start again with tenfold select"
ARRAYS = ("outputs", "seconds")
Facts = dict[str, Any]


class Checkpoint:
    """Where a race is kept, and what was kept by an earlier run of it."""

    def __init__(self, folder: Path, asked: Facts) -> None:
        self.folder, self.path, self.asked = folder, place_of(folder), asked
        self.state: dict[str, Any] = {}
        self.last = time.perf_counter()
        self.trouble: str | None = None  # why it cannot be written

    def is_of(self, name: str, digest: str | None) -> None:
        """Refuse a table that has changed since the race began."""
        if self.state and self.asked["sha256"] != digest:
            raise BadFile(f"{name} has changed since the run was stopped: start again with tenfold select")
        self.asked = dict(self.asked, sha256=digest)

    def keep(self, race: Race, kept: list[str], done: bool = False, heat: bool = False) -> None:
        """Write the race, if the last writing is a while ago or this is the end; `kept` are its families. heat: it is a first one, on some
        of the rows. Where it cannot be written, the race goes on without."""
        if self.trouble is not None or (not done and time.perf_counter() - self.last < EVERY):
            return
        facts = dict(self.asked, families=kept, done=race.done, dropped=list(race.dropped.items()))
        facts |= dict(failures=race.failures, warned=race.warned, fold=_digest(race.fold), heat=heat, tenfold=tenfold.__version__)
        facts |= dict(refitted=[(number, held) for number, sets in enumerate(race.fits.sets) for held in sorted(sets.refitted)])
        arrays = {name: getattr(race, name) for name in ARRAYS} | {f"score {name}": one for name, one in race.scores.items()}
        arrays |= {f"inner {o}": one for o, one in enumerate(race.inner)}
        content = io.BytesIO()
        np.savez(content, facts=np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8), **arrays)
        try:
            with replacing(str(self.path)) as file:
                file.write(content.getbuffer())
        except (BadFile, OSError) as reason:
            self.trouble = str(reason)
        self.last = time.perf_counter()

    def begin(self) -> None:
        """The run has begun: what an earlier one has left, that this one does not go on with, is forgotten."""
        if not self.state:
            self.forget()

    def forget(self) -> None:
        """The run is finished."""
        self.path.unlink(missing_ok=True)

    @classmethod
    def found(cls, folder: Path) -> Checkpoint:
        """What an earlier run has left beside its folder."""
        path = place_of(folder)
        if not path.exists():
            raise BadFile(f"there is no {path.name} beside {folder}: only a run that was stopped or killed can go on")
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            facts = json.loads(arrays.pop("facts").tobytes())
            asked = dict(settings=dict(facts["settings"]), target=_text(facts["target"]), file=_text(facts["file"]), sha256=facts["sha256"])
            asked |= dict(replace=facts.get("replace") is True, others=[_text(one) for one in facts.get("others", ())])
            one = cls(folder, asked)
            one.state = dict(facts=_checked(facts), arrays=arrays)
            begun = str(facts.get("tenfold"))
        except (BadFile, OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as reason:
            raise BadFile(f"{path} cannot be read as a race: start again with tenfold select ({reason})") from None
        if begun != tenfold.__version__:  # models of two versions are not one race
            raise BadFile(f"{path} was begun by tenfold {begun[:20]}, and this is {tenfold.__version__}: start again with tenfold select")
        return one

    def families(self) -> list[str] | None:
        """The titles of the families that run on all rows, where that is known."""
        return self.state["facts"]["families"] if self.state and not self.state["facts"]["heat"] else None

    def restore_heat(self, heat: Race) -> None:
        """Bring a first heat to where the earlier one was."""
        if self.state:
            self._fill(heat, self.state["facts"]["families"])

    def restore(self, race: Race, variants: Callable[[], Sequence[Family]]) -> None:
        """Bring a fresh race to where the earlier one was. variants: those of a second lap, by what the first one has shown."""
        if not self.state or self.state["facts"]["heat"]:
            return
        titles = self.state["facts"]["families"]
        self._fill(race, titles)
        if len(titles) > len(race.families):
            race.enter(variants())
            self._fill(race, titles)
        if titles != [family.title for family in race.families]:
            raise BadFile(f"{self.path} is {OTHER}")

    def _fill(self, race: Race, titles: list[str]) -> None:
        """What is known of the families that the race has so far, which are the first of those that were kept."""
        facts, arrays, count = self.state["facts"], self.state["arrays"], len(race.families)
        wanted = {name: getattr(race, name) for name in ARRAYS} | {f"score {name}": one for name, one in race.scores.items()}
        wanted |= {f"inner {o}": one for o, one in enumerate(race.inner)}
        same = set(wanted) == set(arrays) and all(
            arrays[name].shape[1:] == one.shape[1:] and len(arrays[name]) >= len(one) for name, one in wanted.items()
        )
        same &= titles[:count] == [family.title for family in race.families] and facts["fold"] == _digest(race.fold)
        same &= all(k < race.K for name in ("done", "refitted") for _, held in facts[name] for k in held)
        if not same:
            raise BadFile(f"{self.path} is {OTHER}")
        for name, one in wanted.items():
            one[...] = arrays[name][: len(one)]
        race.done = [(number, held) for number, held in facts["done"] if number < count]
        race.dropped = {number: after for number, after in facts["dropped"] if number < count}
        race.failures, race.warned = dict(facts["failures"]), dict(facts["warned"])
        for number, held in facts["refitted"]:
            if number < count:
                race.fits.sets[number].refitted.add(held)


def _checked(facts: Facts) -> Facts:
    """What was written, each of its type; whatever else a file may hold ends in one of the errors of reading it."""
    titles = [_text(title) for title in facts["families"]]

    def units(name: str) -> list[tuple[int, Held]]:
        found = [(_number(family, len(titles)), tuple(_number(k) for k in held)) for family, held in facts.get(name, [])]
        require(all(1 <= len(held) <= 2 for _, held in found), f"{name}: a model is fitted without one fold or two")
        return found

    told = {name: {_text(title): _text(why) for title, why in facts[name].items()} for name in ("failures", "warned")}
    dropped = [(_number(family, len(titles)), _number(after)) for family, after in facts["dropped"]]
    require(isinstance(facts.get("heat", False), bool), "heat: true or false")
    known = dict(families=titles, done=units("done"), refitted=units("refitted"), dropped=dropped, fold=_text(facts["fold"]))
    return facts | told | known | dict(heat=facts.get("heat", False))


def _number(value: Any, below: int = sys.maxsize) -> int:
    require(type(value) is int and 0 <= value < below, f"{value!r} is no number of a family or a fold")
    return int(value)


def _text(value: Any) -> str:
    require(isinstance(value, str), f"{value!r} is no text")
    return str(value)


def place_of(folder: Path) -> Path:
    """The file beside the folder of a run."""
    named = folder if folder.name not in ("", "..") else folder.resolve()
    return named.with_name(f"{named.name}.race")


def _digest(fold: np.ndarray[Any, Any]) -> str:
    return hashlib.sha256(fold.astype("<i8").tobytes()).hexdigest()
