"""`python -m tenfold`: the command, where the program of that name is not on the path."""

from __future__ import annotations

from tenfold.app.cli import main

if __name__ == "__main__":  # processes that a run starts import this file too
    main()
