"""What is generated (stubs, kinds, tables of the documents) is what the code says: `python tools/generate` writes it."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tenfold.saved import kinds

ROOT = Path(__file__).parent.parent
TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "generate"))
GENERATED: dict[Path, str] = TOOL["generated"]()


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: str(path.relative_to(ROOT)))
def test_generated_files_are_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == GENERATED[path], "run `python tools/generate`"


def test_numbers_of_kinds_are_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the first version; new ones come behind the largest."""
    first = (1, "LinearRegression"), (12, "Pipeline"), (24, "CalibratedClassifierCV"), (46, "RadialBasisFeatures")
    first += (68, "RandomForestClassifier"), (84, "OrdinalEncoder")  # type: ignore[assignment]
    assert set(first) <= set(kinds.LEARNERS.items())
    assert list(kinds.LEARNERS) == sorted(kinds.LEARNERS) and len(kinds.NUMBER_OF_LEARNER) == len(kinds.LEARNERS)
    known = TOOL["classes"]()
    monkeypatch.setitem(TOOL["with_new_kinds"].__globals__, "classes", lambda: {**known, "Centerer": object})
    text = (ROOT / "tenfold" / "saved" / "kinds.py").read_text(encoding="utf-8")
    last = f'    {max(kinds.LEARNERS)}: "{kinds.LEARNERS[max(kinds.LEARNERS)]}",\n'
    new = TOOL["with_new_kinds"](text)
    assert new == text.replace(last, f'{last}    {max(kinds.LEARNERS) + 1}: "Centerer",\n')
