"""`tenfold fit`: one named learner for a table, with an honest estimate."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from tenfold.app.estimate import Estimated
from tenfold.app.failures import Stopped
from tenfold.app.learners import check_predictor, learners, predictor, required
from tenfold.app.options import Columns, JsonFlag, Out, QuietFlag, Replace, Table, Target, with_settings
from tenfold.app.select import folder_for, named_target
from tenfold.app.select_run import next_commands, report_into, saved_facts, start_facts, undisturbed
from tenfold.app.show import Json, Quiet, Text
from tenfold.app.words import clean
from tenfold.core.errors import BadParameter
from tenfold.selection.job import Job
from tenfold.selection.race.checkpoint import Checkpoint
from tenfold.selection.run import run_of
from tenfold.selection.settings import OF_ONE, Settings


def _models(incomplete: str) -> list[str]:
    """For the shell's completion."""
    start = incomplete.lower()
    return [name for name, kind in learners().items() if name.lower().startswith(start) and not required(kind)]


@with_settings(*OF_ONE)
def fit_command(
    file: Table,
    settings: Settings,
    target: Target = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="a learner: tenfold models lists them", autocompletion=_models)
    ] = None,
    setting: Annotated[
        Columns, typer.Option("--set", metavar="PARAMETER=VALUE", help="a parameter of the learner; may be given again")
    ] = None,
    out: Out = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
    replace: Replace = False,
) -> int:
    """Fit one learner to a table, estimate by cross-validation how good it is on new rows, and save it.

    Columns are read and prepared as by tenfold select, leaks left out, groups, weights and times heeded; but nothing is chosen, and the
    learner is saved whatever it is worth. What is saved, all commands take that take what tenfold select has saved.

    Example:  tenfold fit churn.csv --target churned --model RandomForest --set n_estimators=500
    """
    began = time.perf_counter()
    target = named_target(file, target)
    if model is None:
        raise BadParameter("name the learner with --model, such as --model RandomForest: tenfold models lists them")
    check_predictor(model)
    folder, note = folder_for(file, target, out, replace)
    show, saved = Json() if as_json else Quiet() if quiet else _Transcript(), False
    try:
        show("start", **start_facts(settings.seed))
        job = Job(show, False, settings, named=lambda role: predictor(model, role, setting or []))
        found = run_of(job.run(file, target))
        with undisturbed():
            found.save(folder, replace)
            saved = True
            Checkpoint(folder, {}).forget()  # of a stopped run, which this one takes the place of
        notes = [*([] if note is None else [note]), *report_into(folder, file, found.record, began)]
        show("saved", **saved_facts(folder), commands=next_commands(folder, file), notes=notes)
        show("done", seconds=time.perf_counter() - began)
    except KeyboardInterrupt:
        if saved:
            raise Stopped(f"stopped; the model is saved in {folder}/") from None
        raise
    finally:
        show.close()
    return 0


class _Transcript(Text):
    """The events of `select`, where there is one learner and nothing to choose."""

    def lines(self, event: str, facts: dict[str, Any]) -> list[str]:
        if event == "plan":
            return [f"MODEL    {clean(facts['models'][0])}, {facts['folds']} folds: every score below is on rows it had not seen"]
        if event == "board":
            return [f"  ! {note}" for note in facts["notes"].values()]
        if event == "estimate":
            return Estimated(**facts).of_one()
        return [] if event == "chosen" else super().lines(event, facts)
