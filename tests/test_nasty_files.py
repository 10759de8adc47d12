"""300 nasty files: the right table, or one sentence with the line. Never silently wrong, never a traceback."""

from __future__ import annotations

import datetime
import re
import warnings
from pathlib import Path
from typing import Any

import nasty
import pytest

import tenfold
from tenfold.table import delimited, packed


def as_it_is(value: Any) -> Any:
    """A cell for the comparison."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return float(value) if isinstance(value, (int, float)) else value


@pytest.mark.parametrize("variant", range(10))
@pytest.mark.parametrize("kind", list(nasty.KINDS))
def test_nasty(kind: str, variant: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "LONGEST_LINE", 1 << 21)
    monkeypatch.setattr(packed, "LEAST_SUSPECT", 1 << 21)
    monkeypatch.setattr(packed, "MOST_TIMES", 100)
    file = nasty.KINDS[kind](variant)
    path = tmp_path / file.name
    path.write_bytes(file.data)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        if isinstance(file.answer, nasty.Refused):
            with pytest.raises(tenfold.TenfoldError) as error:
                _ = tenfold.read(path).frame
            sentence = str(error.value)
            assert file.answer.says in sentence and "\n" not in sentence and len(sentence) < 500
            return
        table = tenfold.read(path)
        told = [*(str(one.message) for one in warned), *(flag.text for flag in table.flags)]
    assert all(issubclass(one.category, tenfold.DataWarning) for one in warned)
    assert table.frame.columns == list(file.answer)
    for name, cells in file.answer.items():
        assert [as_it_is(one) for one in table.frame[name].to_list()] == cells, name
    assert any(re.search(re.escape(file.told), one.replace(",", "")) or file.told in one for one in told) or not file.told, told


def test_there_are_thirty_kinds() -> None:
    assert len(nasty.KINDS) == 30
