"""`tenfold resume` and `tenfold reproduce`: a run that goes on where it was stopped, and one that is done again to the bit."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from operator import index
from pathlib import Path
from typing import Annotated, Any

import typer

from tenfold.app.learners import predictor
from tenfold.app.options import JsonFlag, QuietFlag, RunFolder
from tenfold.app.select import known_of, listener
from tenfold.app.select_run import Request, run_select
from tenfold.app.show import Json, Silent, Text
from tenfold.app.words import clean
from tenfold.core.errors import BadFile
from tenfold.report.typed import learner_typed
from tenfold.selection.job import Job
from tenfold.selection.model.store import MODEL, RECORD, check_folder, plain, record_of, table_of
from tenfold.selection.race.checkpoint import Checkpoint
from tenfold.selection.run import run_of
from tenfold.selection.search import Replay
from tenfold.selection.settings import Settings

Stopped = Annotated[Path, typer.Argument(metavar="DIR", help="where tenfold select was stopped")]
DIFFERS = 1  # exit code
VERSIONS = ("tenfold", "python", "numpy", "polars")
CLOCKED = ("seconds",)  # on a board: what a clock has measured


def resume_command(folder: Stopped, quiet: QuietFlag = False, as_json: JsonFlag = False) -> int:
    """Go on with a run that was stopped or killed, where it was; the result is that of a run that was not.

    Example:  tenfold resume churn.tenfold
    """
    checkpoint = Checkpoint.found(folder)
    asked = checkpoint.asked
    more = {name: asked[name] for name in ("replace", "others")}
    request = Request(Path(asked["file"]), asked["target"], folder, Settings.of(asked["settings"]), **more)
    check_folder(folder, known_of(request.file, request.target), request.replace)
    return run_select(request, listener(quiet, as_json), checkpoint).code


def reproduce_command(
    folder: RunFolder,
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="the table; looked for by its name if not given")] = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
) -> int:
    """Do a run again from the same table, without a clock, and compare the result bit for bit; nothing is replaced.

    Ends with 0 where the model is the same, 1 where it is not.

    Example:  tenfold reproduce churn.tenfold
    """
    record = record_of(folder)
    if not record or "asked" not in record:
        made = "tenfold select or tenfold fit has made with this version"
        raise BadFile(f"{folder} holds no run that can be done again: give a folder that {made}")
    try:
        asked, target, heat = Settings.of(record["asked"]), str(record["settings"]["target"]), bool(record.get("heat"))
        taken = str(record["prefer"])  # a run that was stopped may have taken what is fitted sooner
        cut = record["interrupted"] or record["cut_by_time"] or heat
        until = Replay(index(record["units"]), heat, index(record.get("fewer") or 0), taken) if cut else Replay(prefer=taken)
        before = _compared(record)
    except (KeyError, TypeError, AttributeError):
        raise BadFile(f"{folder / RECORD} does not say what was done, as if it had been edited: start again with tenfold select") from None
    table = file or table_of(folder, record, "tenfold reproduce")
    show: Silent = Json() if as_json else Silent() if quiet else _Progress()
    again = Job(show, False, asked, replay=until, named=_named(record, folder))
    try:
        found = run_of(again.run(table, target))
    finally:
        show.close()
    different = _differences(before, _compared(plain(found.record)))
    with tempfile.TemporaryDirectory() as place:
        found.save(Path(place) / "again.tenfold")
        same = (Path(place) / "again.tenfold" / MODEL).read_bytes() == (folder / MODEL).read_bytes()
    different += [] if same else ["the model has other bits"]
    if as_json:
        show("reproduced", same=not different, model=found.chosen, different=different)
    elif different:
        print(clean(f"DIFFERS  {'; '.join(different)}"))
    else:
        print(clean(f"SAME     {found.chosen}: the model, the board and the estimate are the same, bit for bit"))
    return DIFFERS if different else 0


def _named(record: dict[str, Any], folder: Path) -> Callable[[str], Any] | None:
    """Of a run of `tenfold fit` the learner that was named, by its role."""
    if record.get("command") != "fit":
        return None
    found = learner_typed(str(record["chosen"]))
    if found is None:
        raise BadFile(f"{folder} was fitted with parameters that cannot be written down: fit it again")
    name, given = found
    return lambda role: predictor(name, role, given)


def _compared(record: dict[str, Any]) -> dict[str, Any]:
    """What is to be the same in two records of a run: versions by their names, all else by what is said where it is not."""
    return {
        "the table has changed": record["data"]["sha256"],
        **{name: record[name] for name in VERSIONS},
        "another model is chosen": record["chosen"],
        "the folds are others": record["folds_sha256"],
        "other work was done": record["units"],
        "the board is another": [{name: value for name, value in row.items() if name not in CLOCKED} for row in record["board"]],
        "the estimate is another": record["estimate"],
    }


def _differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What is not the same in two records of a run, in words."""
    found = [(name, one, after[name]) for name, one in before.items() if one != after[name]]
    return [f"{name} was {one} and is {other}" if name in VERSIONS else name for name, one, other in found]


class _Progress(Text):
    """Only the live line."""

    def __call__(self, event: str, **facts: Any) -> None:
        if event == "progress":
            self.progress.show(**facts)

