"""What failures look like: one sentence on standard error and an exit code.

0 done                                    1 a fault in tenfold          2 wrong use
3 a table or a file cannot be used        4 nothing could be fitted     5 the time was over before anything was
                                                                        130 stopped by Ctrl-C, what was done is saved
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer

from tenfold.app.cli import NEEDED, NEEDS, begin
from tenfold.app.words import clean
from tenfold.core.errors import BadParameter, TenfoldError, TenfoldWarning
from tenfold.selection.errors import NothingFitted

FAULT, WRONG_USE, UNUSABLE, NOTHING_FITTED, TOO_LITTLE_TIME, STOPPED = 1, 2, 3, 4, 5, 130
NOTHING = "stopped; nothing was written"
PARAMETER = re.compile(r"^([a-z_]+)=(?:'([^']*)'|([^\s:]+))(?=[: ])")  # metric='f1' at the beginning of a message,
WITHIN = re.compile(r"\b(task|metric|positive)=(?:'([^']*)')")  # and further on
KIND = re.compile(r"""^kinds\[(['"])(.*)\1\]='(\w*)'""")  # of tenfold.read

FUNCTION = re.compile(r",? or a function of .*$")


class Stopped(Exception):
    """Ctrl-C, with what there is by then in words."""


class Mistyped(Exception):
    """What is typed for an option is no value of it. Not a ValueError, whose words the parser would take for its own."""


def stoppable(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose end by Ctrl-C is told: the parser alone would end with a code and not a word."""

    @functools.wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            begin()
            return command(*arguments, **options)
        except KeyboardInterrupt:
            raise Stopped(NOTHING) from None
        except EOFError as wrong:  # the parser would take it for the end of what is typed, and say that somebody stopped
            raise SystemError(f"a file or a line ends too early: {wrong}") from wrong

    return run


def guarded(command: Callable[[], Any]) -> int:
    """Run, and turn every failure into a sentence and a code."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TenfoldWarning)
            warnings.showwarning = _teller()
            code = command()
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except NothingFitted as reason:
        return _fail(reason, NOTHING_FITTED)
    except Mistyped as reason:
        return _fail(reason, WRONG_USE)
    except BadParameter as reason:
        return _fail(typed(str(reason)), WRONG_USE)
    except TenfoldError as reason:
        return _fail(reason, UNUSABLE)
    except Stopped as reason:
        return _fail(reason, STOPPED)
    except (KeyboardInterrupt, typer.Abort):
        return _fail(NOTHING, STOPPED)
    except BrokenPipeError:
        discard_output()  # the reader of a pipe went away: no complaint about it
        return 0
    except MemoryError:
        return _fail("there is not enough memory for this table: try it with fewer rows or columns (--drop)", UNUSABLE)
    except OSError as reason:
        return _fail_system(reason)
    except Exception as wrong:
        if hasattr(wrong, "format_message"):  # the parser's own: unknown option, missing argument
            return _fail(_usage(wrong), WRONG_USE)
        if isinstance(wrong, ImportError) and wrong.name in NEEDED:  # one that is loaded when it is used
            return _fail(NEEDS, WRONG_USE)
        if os.environ.get("TENFOLD_DEBUG"):
            raise
        return _fail(
            f"a fault in tenfold, not in your table ({type(wrong).__name__}: {wrong}); TENFOLD_DEBUG=1 shows where",
            FAULT,
        )


def _fail(reason: Any, code: int) -> int:
    print_message(reason)
    return code


def _fail_system(reason: OSError) -> int:
    """A full disk, a device that fails: the system's own words, and the file they are about."""
    if reason.filename is None:
        discard_output()
        return _fail(f"standard output: cannot be written ({reason.strerror or reason})", UNUSABLE)
    return _fail(f"{reason.filename}: cannot be read or written ({reason.strerror or reason})", UNUSABLE)


def discard_output() -> None:
    """What is still to be written to standard output goes nowhere, so that Python does not try again when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def print_message(message: Any) -> None:
    """One sentence on standard error."""
    with contextlib.suppress(OSError):  # nobody reads it
        print(f"tenfold: {clean(' '.join(str(message).split()))}", file=sys.stderr, flush=True)


def _teller() -> Callable[..., None]:
    """Tells a warning, once in a command: where in the code it comes from, and how often, is of no use to its user."""
    told = set[str]()

    def tell(message: Warning | str, *where: Any, **more: Any) -> None:
        if str(message) not in told:
            told.add(str(message))
            print_message(message)

    return tell


def typed(message: str) -> str:
    """A message about a parameter of `select`, for who types it: metric='f1' is --metric f1, and cannot be a function."""

    def option(found: re.Match[str]) -> str:
        value = next(one for one in found.groups()[1:] if one is not None)
        return f"--{found[1].replace('_', '-')} {value}"

    return FUNCTION.sub("", WITHIN.sub(option, PARAMETER.sub(option, KIND.sub(r"--kind \2=\3", message))))


def _usage(wrong: Any) -> str:
    """The parser's sentence, and where to read more."""
    context = getattr(wrong, "ctx", None)
    text = str(wrong.format_message()).rstrip(".")
    if context is None:
        return text
    return f"{text} See {context.command_path} -h" if text.endswith("?") else f"{text}: see {context.command_path} -h"
