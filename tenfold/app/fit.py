"""`tenfold fit`: one named learner for a table, with an honest estimate."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from tenfold.app.failures import Stopped
from tenfold.app.learners import check_predictor, learners, predictor, required
from tenfold.app.options import Columns, JsonFlag, Out, QuietFlag, Replace, Table, Target, with_settings
from tenfold.app.select import folder_for, named_target
from tenfold.app.select_run import next_commands, report_into, saved_facts, start_facts, undisturbed
from tenfold.app.show import Json, Text
from tenfold.app.words import figure, metric_name, wrapped
from tenfold.core.errors import BadParameter
from tenfold.selection.settings import FitSettings
from tenfold.selection.single import fit_one


def _models(incomplete: str) -> list[str]:
    """For the shell's completion."""
    start = incomplete.lower()
    return [name for name, kind in learners().items() if name.lower().startswith(start) and not required(kind)]


@with_settings(FitSettings)
def fit_command(
    file: Table,
    settings: FitSettings,
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

    Categories, dates and missing values are prepared for the learner. What is saved, tenfold predict, estimate, explain, watch,
    compare and inspect take, as they take what tenfold select has saved.

    Example:  tenfold fit churn.csv --target churned --model Lasso --set alpha=0.1
    """
    began = time.perf_counter()
    target = named_target(file, target)
    if model is None:
        raise BadParameter("name the learner with --model, such as --model RandomForest: tenfold models lists them")
    check_predictor(model)
    folder, note = folder_for(file, target, out, replace)
    show, saved = Json() if as_json else _Quiet() if quiet else _Transcript(), False
    try:
        show("start", **start_facts(settings.seed))
        found = fit_one(file, target, lambda role: predictor(model, role, setting or []), settings, show)
        show("worth", estimates=found.estimates, guesses=found.guesses, beats_guess=found.beats_guess, learner=found.record["chosen"])
        with undisturbed():
            found.save(folder, replace)
            saved = True
        notes = [*([] if note is None else [note]), *report_into(folder, file, found.record, began)]
        show("saved", **saved_facts(folder), commands=next_commands(folder, file, again=False), notes=notes)
        show("done", seconds=time.perf_counter() - began)
    except KeyboardInterrupt:
        if saved:
            raise Stopped(f"stopped; the model is saved in {folder}/") from None
        raise
    finally:
        show.close()
    return 0


class _Transcript(Text):
    """The events of `select`, and those of one learner."""

    def _learner(self, learner: str, folds: int, copies: str) -> list[str]:
        return [f"CHECKS   {copies}", f"MODEL    {learner}"]

    def _worth(self, estimates: list[dict[str, Any]], guesses: list[dict[str, Any]], beats_guess: bool | None, learner: str) -> list[str]:
        lines = ["", "HONEST ESTIMATE of this learner, on new rows like these"]
        for one, guess in zip(estimates, guesses, strict=True):
            name = one["metric"]
            value, low, high = (figure(one[key], name) for key in ("value", "low", "high"))
            extent = f"95% range {low} to {high}"
            lines.append(f"  {metric_name(name):<10} {value:>10}   {extent:<30}   guessing gets {figure(guess['value'], name)}")
        lines.append("  Every row was predicted by a model that had not seen it (cross-validation, all rows together).")
        if beats_guess is not True:
            worse = "is worse than" if beats_guess is False else "cannot be told from"
            lines += ["", f"VERDICT  On these rows this learner {worse} guessing. Worth trying: tenfold select, more rows, other columns."]
        return [*lines, ""]


class _Quiet(_Transcript):
    """One line at the end."""

    def __call__(self, event: str, **facts: Any) -> None:
        if event == "worth":
            one = facts["estimates"][0]
            value, low, high = (figure(one[key], one["metric"]) for key in ("value", "low", "high"))
            self.line = f"{facts['learner']}   {metric_name(one['metric'])} {value} ({low} to {high})"
        elif event == "saved":
            self.say("\n".join(wrapped(f"{self.line}   saved {facts['folder']}/", self.width)))
