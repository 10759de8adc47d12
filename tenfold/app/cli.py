"""The entry point. The commands need the extra "app"; without it, say so in one sentence."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

NEEDED = ("typer", "rich", "polars", "jinja2", "markupsafe")
NEEDS = f"the command tenfold needs {', '.join(NEEDED[:-1])} and {NEEDED[-1]}: install them with  pip install 'tenfold[app]'"
STOPPED = 130  # exit code


def main() -> None:
    """Run the command line; asked to end by the system (SIGTERM), as on Ctrl-C."""
    _open_streams()
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    heeded = [number for number, handler in usual.items() if signal.getsignal(number) is handler]  # a shell may have them ignored
    for number in heeded:
        signal.signal(number, _stop)
    try:
        from tenfold.app.commands import run
    except ImportError as missing:
        if not any(name in str(missing) for name in NEEDED):
            raise
        print(NEEDS, file=sys.stderr)
        sys.exit(2)
    try:
        code = run()
    except KeyboardInterrupt:  # after its last word
        code = STOPPED
    for number in heeded:
        signal.signal(number, signal.SIG_IGN)  # all is done
    sys.exit(code)


def _open_streams() -> None:
    """Standard streams that were closed by who started this (>&-): Python has None for them, prints what is meant for standard error
    to standard output, among the predictions, and gives their numbers to the next files. To read or write one is an error as in
    other programs; only messages go nowhere."""
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def begin() -> None:
    """From here on there may be something to tidy, or to save: Ctrl-C is an exception."""
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) is _stop:
            signal.signal(number, signal.default_int_handler)


def _stop(number: int, frame: FrameType | None) -> None:
    """Ctrl-C while libraries are loaded and the line is parsed: nothing is to be tidied, and no traceback of an import helps."""
    os.write(2, b"tenfold: stopped; nothing was written\n")
    os._exit(STOPPED)


if __name__ == "__main__":
    from tenfold.app import cli  # the one that commands know

    cli.main()
