"""What a run ends with where there is no model; in a file of its own, as the command line knows it before it loads a run."""

from __future__ import annotations

from tenfold.core.errors import TenfoldError


class NothingFitted(TenfoldError):
    """Every learner of the race failed."""
