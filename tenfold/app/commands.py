"""The command line: every command with its group, in one place; each is in a file of its own."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

import tenfold
from tenfold.app.advise import advise_command
from tenfold.app.again import reproduce_command, resume_command
from tenfold.app.bench import bench_command
from tenfold.app.check import check_command
from tenfold.app.cluster import cluster_command
from tenfold.app.compare import compare_command
from tenfold.app.doctor import doctor_command
from tenfold.app.explain import explain_command
from tenfold.app.failures import guarded, stoppable
from tenfold.app.fit import fit_command
from tenfold.app.inspect import inspect_command
from tenfold.app.models import data_command, models_command
from tenfold.app.predict import predict_command
from tenfold.app.promise import estimate_command
from tenfold.app.reduce import reduce_command
from tenfold.app.report import report_command
from tenfold.app.select import demo_command, select_command
from tenfold.app.unusual import unusual_command
from tenfold.app.watch import watch_command

Command = tuple[str, Callable[..., int], str]  # its name, what it does, and that in one line
COMMANDS: dict[str, tuple[Command, ...]] = {  # by purpose, in the order of the help
    "Choose a model": (
        ("select", select_command, "Choose a model for a table, estimate how good it is, save it."),
        ("resume", resume_command, "Go on with a run that was stopped or killed."),
        ("reproduce", reproduce_command, "Do a run again, and compare bit for bit."),
        ("fit", fit_command, "Fit one named learner, estimate how good it is, save it."),
        ("compare", compare_command, "Which of two or more models is better, on the same rows."),
        ("demo", demo_command, "select on a table that is included, in seconds."),
        ("advise", advise_command, "Which regression for a table, and why."),
    ),
    "Use a model": (
        ("predict", predict_command, "Predictions for the rows of a file."),
        ("explain", explain_command, "Why this row, how a column acts, what if."),
        ("estimate", estimate_command, "Score a model on new rows whose truth is known: as promised?"),
        ("watch", watch_command, "Have new rows drifted from the training table?"),
        ("report", report_command, "The page of a run: verdict, errors, what drives the model."),
        ("inspect", inspect_command, "What is inside a saved model."),
    ),
    "Look at a table": (
        ("check", check_command, "A table as it is read: kinds, missing values, warnings."),
        ("cluster", cluster_command, "The groups of a table: how many, and what sets them apart."),
        ("unusual", unusual_command, "The rows that are unlike the others, at a stated rate, and why."),
        ("reduce", reduce_command, "The few axes along which rows differ, and the columns behind each."),
        ("data", data_command, "Tables that are included."),
    ),
    "Look around": (
        ("models", models_command, "The learners, and the parameters of one."),
        ("doctor", doctor_command, "Is this machine and this installation in order?"),
        ("bench", bench_command, "Is select as accurate and as fast here as where it was made?"),
    ),
}  # fmt: skip


class ByPurpose(TyperGroup):
    """A group whose help lists its commands by purpose."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(len(name) for some in COMMANDS.values() for name, _, _ in some)
        for purpose, some in COMMANDS.items():
            with formatter.section(purpose):
                formatter.write_dl([(name.ljust(width), line) for name, _, line in some])


app = typer.Typer(
    cls=ByPurpose,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=dict(help_option_names=["-h", "--help"]),
)


def run(arguments: list[str] | None = None) -> int:
    """Parse and run; the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows "?" and goes on
    return guarded(lambda: _parser()(args=arguments or ["--help"], prog_name="tenfold", standalone_mode=False))


@cache
def _parser() -> Any:
    return get_command(app)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tenfold {tenfold.__version__}")
        raise typer.Exit()


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Choose a model for a table, honestly."""


def _told_by_us(command: Callable[..., int]) -> None:
    """A file that may not be read is one that cannot be used, which who reads it tells; the parser would call it wrong use."""
    signature = inspect.signature(command, eval_str=True)
    for parameter in signature.parameters.values():
        for option in getattr(parameter.annotation, "__metadata__", ()):
            option.readable = False
    vars(command)["__signature__"] = signature


for _purpose in COMMANDS.values():
    for _name, _function, _line in _purpose:
        _told_by_us(_function)
        app.command(_name, short_help=_line)(stoppable(_function))
