"""The command line: every command with its group, in one place; each is in a file of its own."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperGroup
from typer.main import get_command

import tenfold
from tenfold.app.failures import Mistyped, guarded, stoppable

Command = tuple[str, str, str]  # its name, the module that has it, and what it does in one line
COMMANDS: dict[str, tuple[Command, ...]] = {  # by purpose, in the order of the help
    "Choose a model": (
        ("select", "select", "Choose a model for a table, estimate how good it is, save it."),
        ("resume", "again", "Go on with a run that was stopped or killed."),
        ("reproduce", "again", "Do a run again, and compare bit for bit."),
        ("fit", "fit", "Fit one named learner, estimate how good it is, save it."),
        ("compare", "compare", "Which of two or more models is better, on the same rows."),
        ("demo", "select", "select on a table that is included, in seconds."),
        ("advise", "advise", "Which regression for a table, and why."),
    ),
    "Use a model": (
        ("predict", "predict", "Predictions for the rows of a file."),
        ("explain", "explain", "Why this row, how a column acts, what if."),
        ("estimate", "promise", "Score a model on new rows whose truth is known: as promised?"),
        ("watch", "watch", "Have new rows drifted from the training table?"),
        ("report", "report", "The page of a run: verdict, errors, what drives the model."),
        ("inspect", "inspect", "What is inside a saved model."),
    ),
    "Look at a table": (
        ("check", "check", "A table as it is read: kinds, missing values, warnings."),
        ("cluster", "cluster", "The groups of a table: how many, and what sets them apart."),
        ("unusual", "unusual", "The rows that are unlike the others, at a stated rate, and why."),
        ("reduce", "reduce", "The few axes along which rows differ, and the columns behind each."),
        ("data", "models", "Tables that are included."),
    ),
    "Look around": (
        ("models", "models", "The learners, and the parameters of one."),
        ("doctor", "doctor", "Is this machine and this installation in order?"),
        ("bench", "bench", "Is select as accurate and as fast here as where it was made?"),
    ),
}


PLAIN: dict[str, Any] = dict(pretty_exceptions_enable=False, rich_markup_mode=None)


class Loaded(Mapping[str, Any]):
    """The commands by name, each loaded when it is asked for: the overview does not wait for what they import."""

    def __init__(self) -> None:
        self.listed = {name: (module, line) for some in COMMANDS.values() for name, module, line in some}

    def __getitem__(self, name: str) -> Any:
        return _loaded(name, *self.listed[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)


@cache
def _loaded(name: str, module: str, line: str) -> Any:
    alone = typer.Typer(add_completion=False, **PLAIN)
    function = function_of(name, module)
    _leave_to_us(function)
    alone.command(name, short_help=line)(stoppable(function))
    return get_command(alone)


def function_of(name: str, module: str) -> Callable[..., int]:
    """What a command does."""
    function: Callable[..., int] = getattr(import_module(f"tenfold.app.{module}"), f"{name}_command")
    return function


def _leave_to_us(command: Callable[..., int]) -> None:
    """A file that may not be read is one that cannot be used, which who reads it tells; the parser would call it wrong use. And of a text
    where a number should be it would not say which text."""
    signature = inspect.signature(command, eval_str=True)
    for parameter in signature.parameters.values():
        for option in getattr(parameter.annotation, "__metadata__", ()):
            option.readable = False
            kind = get_args(parameter.annotation)[0]
            kinds = get_args(kind) or (kind,)  # of int | None both
            if int in kinds or float in kinds:
                option.parser = partial(_number, f"--{parameter.name.replace('_', '-')}", int if int in kinds else float)
    vars(command)["__signature__"] = signature


def _number(option: str, kind: type[int] | type[float], typed: Any) -> int | float:
    """What is typed for an option as a number."""
    try:
        return kind(typed)
    except ValueError:
        raise Mistyped(f"{option} {typed}: must be a {'whole ' if kind is int else ''}number") from None


class ByPurpose(TyperGroup):
    """A group whose help lists its commands by purpose."""

    commands: Any

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = Loaded()

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(len(name) for some in COMMANDS.values() for name, _, _ in some)
        for purpose, some in COMMANDS.items():
            with formatter.section(purpose):
                formatter.write_dl([(name.ljust(width), line) for name, _, line in some])


app = typer.Typer(cls=ByPurpose, add_completion=True, context_settings=dict(help_option_names=["-h", "--help"]), **PLAIN)


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
