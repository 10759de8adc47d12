"""CSV files that are not quite right: repeated names in the header, lines with too many fields, quotes that stay open."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.app.commands import run
from tenfold.table.lines import Layout, bad_line, check_header, header_of
from tenfold.table.reading import read_table

TWICE = "a,b,a,y\n" + "".join(f"{i},{i % 3},{i * i},{2 * i}\n" for i in range(12))


def test_a_repeated_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TWICE)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(TWICE.encode()))
    for name in ("t.csv", "t.csv.gz"):
        with pytest.warns(tenfold.DataWarning, match=r"'a' stands more than once in the header; .* 'a_duplicated_0'"):
            model = tenfold.LinearRegression().fit(tmp_path / name, "y")
        assert model.feature_names_in_.tolist() == ["a", "b", "a_duplicated_0"]
        with pytest.warns(tenfold.DataWarning, match="'a' stands more than once"):
            assert read_table(tmp_path / name).repeated == {"a"}
    with (
        pytest.warns(tenfold.DataWarning),
        pytest.raises(tenfold.BadInput, match="more than one column 'a', the target"),
    ):
        tenfold.LinearRegression().fit(tmp_path / "t.csv", "a")
    with (
        pytest.warns(tenfold.DataWarning),
        pytest.raises(tenfold.BadInput, match="more than one column 'a', the weight"),
    ):
        tenfold.LinearRegression().fit(tmp_path / "t.csv", "y", sample_weight="a")
    with (
        pytest.warns(tenfold.DataWarning),
        pytest.raises(tenfold.BadInput, match="more than one column 'a', the target"),
    ):
        tenfold.select(tmp_path / "t.csv", "a")


def test_a_name_that_only_looks_renamed(tmp_path: Path) -> None:
    """Columns that are called so in the file, and columns without a name, are nobody's copies."""
    (tmp_path / "t.csv").write_text("a,a_duplicated_0,,\n1,2,3,4\n")
    assert check_header(tmp_path / "t.csv", ["a", "a_duplicated_0"]) == set()
    assert read_table(tmp_path / "t.csv").frame.columns == ["a", "a_duplicated_0", "column_3", "column_4"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3: 2 fields expected as in the header, 3 found"),
        ('a,b\n1,"x\ny"\n\n1,2,3,4\n', "line 5: 2 fields expected as in the header, 4 found"),
        (
            '"a;b";c\n1;2\n1;2;3\n',
            "line 3: 2 fields expected as in the header, 3 found: put texts that hold ';' in quotes",
        ),
        ('a,b\n1,"x\ny"\n1,"2\n3,4\n', "line 4: a quote is opened and never closed"),
    ],
)
def test_a_bad_line_is_named(text: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    separator = ";" if ";" in text else ","
    assert f"'t.csv', {told}" in str(bad_line(tmp_path / "t.csv", Layout(separator)))
    with pytest.raises(tenfold.BadFile, match=told[:40]):
        read_table(tmp_path / "t.csv")


def test_good_files_have_no_bad_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes('\ufeffä,"b\nc"\n1,2\n\n"3",4\n'.encode())
    assert header_of(tmp_path / "t.csv") == ["ä", "b\nc"] and bad_line(tmp_path / "t.csv") is None
    (tmp_path / "damaged.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 1000)[:40])
    assert bad_line(tmp_path / "damaged.csv.gz") is None
    assert header_of(tmp_path / "gone.csv") == []


def test_short_lines_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('a,b,c\n1,2,3\n1,"x\ny",3\n4,5\n\n6\n7,8,\n')
    told = (
        "'t.csv', line 5: 2 fields found, 3 expected as in the header (2 such lines); what is not there counts as missing"
    )
    with pytest.warns(tenfold.DataWarning) as warned:
        frame = read_table(tmp_path / "t.csv").frame
    assert [str(one.message) for one in warned] == [told] and frame["c"].null_count() >= 3
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,\n,,\n1,2,3\n")  # blanks, all in their places
    assert read_table(tmp_path / "t.csv").frame.height == 3


def test_other_encodings(tmp_path: Path) -> None:
    """What Windows writes is read; what cannot be is told."""
    text = "größe;ä\n1,5;ü\n2,5;ß\n"
    (tmp_path / "t.csv").write_bytes(text.encode("cp1252"))
    (tmp_path / "head.csv.gz").write_bytes(gzip.compress("größe;b\n1;2\n".encode("cp1252")))
    found = read_table(tmp_path / "t.csv")
    assert found.frame.columns == ["größe", "ä"] and found.frame["ä"].to_list() == ["ü", "ß"]
    assert found.about == "semicolon, header row, Windows-1252"
    assert read_table(tmp_path / "head.csv.gz").frame.columns == ["größe", "b"]
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    assert read_table(tmp_path / "t.csv").about == "semicolon, header row"
    (tmp_path / "t.csv").write_bytes(b"a,b\nx\x81,1\n")  # neither
    with pytest.warns(tenfold.DataWarning, match="line 2: bytes that are no text"):
        assert read_table(tmp_path / "t.csv").frame.row(0) == ("x\N{REPLACEMENT CHARACTER}", "1")
    for encoding in ("utf-16", "utf-32"):
        (tmp_path / "t.csv").write_bytes(text.encode(encoding))
        assert read_table(tmp_path / "t.csv").about == f"semicolon, header row, {encoding.upper()}"
        assert read_table(tmp_path / "t.csv").frame["ä"].to_list() == ["ü", "ß"]


def test_other_separators(tmp_path: Path) -> None:
    """Tables parted by semicolons, tabs and bars give the model of one with commas; what they hold is named when it is no number."""
    text = "x,y\n" + "".join(f"{i % 7},{3 * i % 11}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(text)
    plain = tenfold.LinearRegression().fit(tmp_path / "t.csv", "y")
    for mark in ";\t|":
        (tmp_path / "other.csv").write_text("\n" + text.replace(",", mark))
        model = tenfold.LinearRegression().fit(tmp_path / "other.csv", "y")
        assert model.coef_.tolist() == plain.coef_.tolist()
        np.testing.assert_array_equal(model.predict(tmp_path / "other.csv"), plain.predict(tmp_path / "t.csv"))
    (tmp_path / "comma.csv").write_text("x;y\n0,5;1\n1,5;2\n")
    np.testing.assert_allclose(tenfold.LinearRegression().fit(tmp_path / "comma.csv", "y").coef_, [1.0], rtol=1e-12)


def test_headers_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('\n\n"a,b,c";d\n1;2\n')
    assert read_table(tmp_path / "t.csv").frame.columns == ["a,b,c", "d"]
    (tmp_path / "t.csv").write_text("5.1,3,3\n4.9,3,0\n")
    with pytest.warns(tenfold.DataWarning, match=r"first line \(5.1, 3, .*\) looks like data") as warned:
        assert read_table(tmp_path / "t.csv").frame.to_dict(as_series=False) == {
            "column_1": ["5.1", "4.9"],
            "column_2": ["3", "3"],
            "column_3": ["3", "0"],
        }
    assert len(warned) == 1


def test_the_command_tells_it_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pl.DataFrame({"a": rng.normal(size=30), "b": rng.normal(size=30), "y": rng.normal(size=30)})
    (tmp_path / "t.csv").write_text(rows.write_csv().replace("a,b,y", "a,a,y", 1))
    assert run(["select", "t.csv", "--target", "y", "--folds", "3", "--quiet"]) == 0
    assert run(["predict", "t.tenfold", "t.csv", "--out", "answers.csv"]) == 0
    said = capsys.readouterr().err.splitlines()
    line = "tenfold: 't.csv': 'a' stands more than once in the header; the later columns are called 'a_duplicated_0'"
    assert said == [line, line]  # by select, and by predict
    assert run(["select", "t.csv", "--target", "a"]) == 3
    assert "rename all but one" in capsys.readouterr().err
