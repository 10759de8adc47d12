"""The entry point. The commands need the extra "app"; without it, say so in one sentence."""

from __future__ import annotations

import sys

NEEDED = ("typer", "rich", "polars")


def main() -> None:
    """Run the command line."""
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
    sys.exit(run())


if __name__ == "__main__":
    main()
