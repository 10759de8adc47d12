"""The lists of scikit-learn's own tests that are asked for nothing (tests/scikit_learn): each has a reason, and each test exists."""

from __future__ import annotations

from pathlib import Path

import pytest
import sklearn

LISTS = sorted((Path(__file__).parent / "scikit_learn").glob("*.txt"))
THEIRS = Path(sklearn.__file__).parent


def files() -> dict[str, str]:
    """The text of all of scikit-learn's files of tests of a name."""
    found: dict[str, str] = {}
    for path in THEIRS.rglob("tests/test_*.py"):
        found[path.name] = found.get(path.name, "") + path.read_text()
    return found


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    found = files()
    if not found:
        pytest.skip("scikit-learn is installed without its tests")
    return found


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_entry_has_a_reason_and_is_a_test(path: Path, texts: dict[str, str]) -> None:
    reason = ""
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            words = line.lstrip("# ")
            reason = words.removeprefix("reason:").strip() if words.startswith("reason:") else reason
        elif line.strip():
            assert len(reason) > 20, f"{line}: no reason above it"
            file, _, name = line.split(" #")[0].strip().partition("::")
            assert f"def {name.partition('[')[0]}(" in texts.get(file, ""), f"{line}: scikit-learn has no such test"
