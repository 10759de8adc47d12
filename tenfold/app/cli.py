"""The entry point. The commands need the extra "app"; without it, say so in one sentence."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

NEEDED = ("typer", "rich", "polars")


def main() -> None:
    """Run the command line."""
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, _stop)
    try:
        from tenfold.app.commands import run
    except ImportError as missing:
        if not any(name in str(missing) for name in NEEDED):
            raise
        print(
            "the command tenfold needs typer, rich and polars: install them with  pip install 'tenfold[app]'",
            file=sys.stderr,
        )
        sys.exit(2)
    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(run())


def _stop(number: int, frame: FrameType | None) -> None:
    """Ctrl-C while the libraries are loaded: nothing is to be tidied, and no traceback of an import helps."""
    os.write(2, b"tenfold: stopped; nothing was written\n")
    os._exit(130)


if __name__ == "__main__":
    main()
