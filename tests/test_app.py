"""The command line: what it prints, where, and how it ends."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app.board import intervals
from tenfold.app.commands import run
from tenfold.app.progress import PLAIN_EVERY, Progress
from tenfold.app.show import Text
from tenfold.app.words import about, clean, figure, folded, full, wrapped
from tenfold.selection.model.store import FILES
from tenfold.selection.race.fits import _warning_text
from tenfold.selection.race.race import Race

PENGUINS = Path(tenfold.__file__).parent / "data" / "penguins.csv"


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    shrink(monkeypatch, 10, (5, 20))  # the same race with fewer trees


def table(**columns: object) -> str:
    pl.DataFrame(columns).write_csv("t.csv")
    return "t.csv"


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a short run of the demonstration, and the line that it printed."""
    folder, out = tmp_path_factory.mktemp("demo"), io.StringIO()
    with pytest.MonkeyPatch.context() as monkeypatch, redirect_stdout(out):
        monkeypatch.chdir(folder)
        shrink(monkeypatch, 10, (5, 20))
        assert run(["demo", "--folds", "3", "--quiet"]) == 0
    assert [path.name for path in folder.iterdir()] == ["penguins.tenfold"]
    return folder / "penguins.tenfold", out.getvalue()


@pytest.fixture
def penguins(demo: tuple[Path, str], in_empty_folder: None) -> str:
    """A copy of it in the folder of a test."""
    shutil.copytree(demo[0], "penguins.tenfold")
    return demo[1]


def test_demo_reads_as_promised(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--folds", "4"]) == 0
    out = capsys.readouterr().out
    sections = [
        "READ ",
        "TASK ",
        "COLUMNS ",
        "CHECKS ",
        "PLAN ",
        "RACE ",
        "HONEST ESTIMATE",
        "CHOSEN ",
        "SAVED ",
        "NEXT ",
        "done in",
    ]
    places = [out.index(f"\n{section}") for section in sections]
    assert places == sorted(places)
    assert "344 rows x 8 columns" in out and "3 classes   Adelie 152 (44.2%)" in out and "class frequencies" in out
    assert "95% range" in out and "The board shows" in out and "training rows" in out
    assert "\x1b" not in out
    kept = {"model.tenfold", "simple.tenfold", "run.json", "sketch.json", "held_out.parquet"}
    assert kept <= {path.name for path in Path("penguins.tenfold").iterdir()} <= FILES
    for line in re.findall(r"(?:NEXT    | {8}) (tenfold .*?)     ", out):  # the printed commands work as they are
        assert run(line.split()[1:]) == 0
    shown = capsys.readouterr().out
    assert "chance of Adelie" in shown and "report.html written" in shown and "WHY  " in shown and "bit for bit" in shown


def test_predict_writes_a_file(penguins: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert penguins.count("\n") == 1 and "log loss" in penguins and "penguins.tenfold" in penguins
    assert run(["predict", "penguins.tenfold", str(PENGUINS), "--out", "answers.csv"]) == 0
    answers = pl.read_csv("answers.csv")
    assert (
        answers.columns == ["species", "90% set", "chance of Adelie", "chance of Chinstrap", "chance of Gentoo"]
        and answers.height == 344
    )
    assert "344 predictions written to answers.csv" in capsys.readouterr().out
    assert sorted(path.name for path in Path().iterdir()) == ["answers.csv", "penguins.tenfold"]


def test_labels_that_a_spreadsheet_would_run(capsys: pytest.CaptureFixture[str]) -> None:
    x = rng().normal(size=60)
    file = table(x=x, y=np.where(x > 0, "=cmd()", "fine"))
    assert run(["select", file, "--target", "y", "--folds", "3"]) == 0
    capsys.readouterr()
    assert run(["predict", "t.tenfold", file]) == 0
    assert "'=cmd()" in capsys.readouterr().out
    assert run(["predict", "t.tenfold", file, "--raw"]) == 0
    assert "\n=cmd()" in capsys.readouterr().out


def test_json_is_one_object_for_each_event(capsys: pytest.CaptureFixture[str]) -> None:
    file = table(x=rng().normal(size=50), y=rng().normal(size=50))
    assert run(["select", file, "--target", "y", "--json", "--folds", "3"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    names = [event["event"] for event in events]
    assert names[:6] == ["start", "read", "task", "columns", "checks", "plan"] and names[-1] == "done"
    assert {"progress", "board", "estimate", "chosen", "saved"} <= set(names)
    assert events[names.index("estimate")]["estimates"][0]["metric"] == "rmse"
    plan, first = events[names.index("plan")], events[names.index("progress")]
    assert 2 < plan["seconds"] < 60 and len(plan["models"]) == plan["families"]
    assert (first["fold"], first["folds"], first["dropped"], first["families"]) == (1, 3, 0, plan["families"])


def test_times_that_are_known_roughly() -> None:
    assert [about(one) for one in (0.2, 14.9, 60, 90, 91, 179)] == [
        "about 3 s", "about 15 s", "about 60 s", "about 90 s", "about 2 minutes", "about 3 minutes",
    ]  # fmt: skip


def test_the_live_line_tells_where_a_race_is(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Progress()
    for fold, dropped in ((2, 0), (3, 7), (None, 7)):
        shown.last = -PLAIN_EVERY
        shown.show(20, 90, 4.2, fold=fold, folds=5, dropped=dropped, families=28)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "RACE     fold 2 of 5   20 of 90 training sets   4 s gone, about 15 s left"
    assert lines[1] == "RACE     fold 3 of 5   7 of 28 dropped   20 of 90 training sets   4 s gone, about 15 s left"
    assert lines[2] == "RACE     20 of 90 training sets   4 s gone, about 15 s left"


def test_the_first_training_sets_tell_little_of_the_time_that_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    shown, left = Progress(), dict[tuple[float | None, int], int]()
    for shown.forecast, shown.limit in ((None, None), (15.0, None), (15.0, 30.0)):
        for done, seconds in ((2, 5.0), (200, 25.0)):
            shown.last = -PLAIN_EVERY
            shown.show(done, 220, seconds)
            left[shown.limit or shown.forecast, done] = int(capsys.readouterr().err.split("about ")[1].split()[0])
    assert left == {(None, 2): 545, (15.0, 2): 60, (30.0, 2): 25, (None, 200): 3, (15.0, 200): 3, (30.0, 200): 3}


def test_no_signal_is_a_verdict_not_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    file = table(
        a=rng().normal(size=120),
        b=rng().choice(["u", "v"], 120),
        y=np.random.default_rng(1).normal(7.3, 2, 120),
    )
    assert run(["select", file, "--target", "y"]) == 0
    out = capsys.readouterr().out
    assert "VERDICT  No usable signal" in out and "always guessing 7.197" in out and "CHOSEN   always guessing" in out
    assert run(["predict", "t.tenfold", file, "--out", "a.csv"]) == 0
    assert pl.read_csv("a.csv")["y"].n_unique() == 1


# --- wrong use and unusable data -----------------------------------------------------------------------


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [
        (["select", str(PENGUINS), "--target", "Specis"], 2, "did you mean 'species'?"),
        (["select", str(PENGUINS), "--target", "species", "--drop", "iland"], 2, "did you mean 'island'?"),
        (["select", str(PENGUINS), "--target", "species", "--metric", "rmse"], 2, "log_loss"),
        (["select", str(PENGUINS), "--target", "species", "--task", "ranking"], 2, "'classes' or 'number'"),
        (
            ["select", str(PENGUINS), "--target", "species", "--task", "number"],
            3,
            "cannot be read as a number: it holds 'Adelie'",
        ),
        (["select", str(PENGUINS), "--target", "species", "--folds", "2"], 2, "3"),
        (["select", str(PENGUINS), "--target", "species", "--folds", "1000"], 2, "--folds 1000: must be 3 to 50"),
        (["select", str(PENGUINS), "--target", "species", "--metric", "acuracy"], 2, "did you mean accuracy?"),
        (
            ["select", str(PENGUINS), "--target", "species", "--drop", "species"],
            2,
            "--drop species: this is the column",
        ),
        (["select", str(PENGUINS)], 2, "with --target: penguins.csv has species, island, bill_length_mm"),
        (["select", "absent.csv", "--target", "y"], 3, "there is no file absent.csv"),
        (["select", ".", "--target", "y"], 3, "is a folder"),
        (["predict", "absent", str(PENGUINS)], 3, "there is no folder absent"),
        (["inspect", str(PENGUINS)], 3, "penguins.csv"),
        (["frobnicate"], 2, "frobnicate"),
    ]
    for arguments, code, words in cases:
        assert run(arguments) == code, arguments
        err = capsys.readouterr().err
        assert words in err and err.startswith("tenfold: ") and err.count("\n") == 1, (arguments, err)
    assert list(Path().iterdir()) == []


def test_somebody_elses_folder_is_refused_before_any_work(capsys: pytest.CaptureFixture[str]) -> None:
    Path("penguins.tenfold").mkdir()
    Path("penguins.tenfold/precious.txt").write_text("mine")
    assert run(["demo"]) == 3
    captured = capsys.readouterr()
    assert "was not made by tenfold select" in captured.err and captured.out == ""
    assert Path("penguins.tenfold/precious.txt").read_text() == "mine"


N = 60
NASTY: dict[str, tuple[dict[str, object], int, str]] = {
    "constant column": (dict(c=[1] * N, x=np.arange(N) % 7, y=np.arange(N) / 3), 0, "the same in every row"),
    "all missing": (dict(c=[None] * N, x=np.arange(N) % 7, y=np.arange(N) / 3), 0, "holds no values"),
    "id only": (dict(c=[f"k{i}" for i in range(N)], y=np.arange(N) / 3), 3, "no column is left"),
    "target only": (dict(y=np.arange(N) / 3), 3, "the only column"),
    "one class": (dict(x=np.arange(N) % 7, y=["a"] * N), 3, "'a' in every row"),
    "constant number": (dict(x=np.arange(N) % 7, y=[2.5] * N), 3, "nothing to predict"),
    "two rows": (dict(x=[1, 2], y=["a", "b"]), 3, "only 2 rows"),
    "class of one row": (
        dict(x=np.arange(N) % 7, y=["a"] * 30 + ["b"] * 29 + ["c"]),
        0,
        "1 class with fewer than 3 rows",
    ),
    "all classes tiny": (dict(x=np.arange(N) % 7, y=[f"c{i}" for i in range(N)]), 3, "60 different values"),
    "target with blanks": (
        dict(x=np.arange(N) % 7, y=[None if i % 3 else i / 7 for i in range(N)]),
        0,
        "40 rows without a value",
    ),
    "empty target": (dict(x=np.arange(N), y=[None] * N), 3, "holds no values"),
    "perfect copy": (
        dict(x=np.arange(N) % 11, z=np.arange(N) ** 2, y=np.arange(N) ** 2),
        0,
        "z alone predicts the target",
    ),
    "all rows equal": (dict(x=[1.5] * N, c=["a"] * N, y=np.arange(N) / 3), 3, "no column is left"),
    "all rows twice": (
        dict(
            x=np.tile(np.random.default_rng(1).normal(size=N // 2), 2),
            z=np.tile(np.arange(N // 2) % 13, 2),
            y=np.tile(np.arange(N // 2) / 3, 2),
        ),
        0,
        "30 duplicate rows kept",
    ),
    "huge and tiny": (
        dict(x=np.linspace(-1e300, 1e300, N), z=np.linspace(0, 1e-300, N), y=np.arange(N) / 3),
        0,
        "CHOSEN",
    ),
    "huge target": (
        dict(x=np.arange(N) + 0.5, y=np.linspace(-1e120, 1e120, N)),
        3,
        "give it in another unit",
    ),
    "infinities": (
        dict(x=[float("inf") if i % 9 == 0 else i % 7 for i in range(N)], y=np.arange(N) / 3),
        0,
        "read as missing",
    ),
    "odd names": (
        {
            "\x1b[2J": np.arange(N) % 7,
            "[red]x[/red]": np.arange(N) % 5,
            "‮evil": ["a", "b"] * (N // 2),
            "y": np.arange(N) / 3,
        },
        0,
        "CHOSEN",
    ),
    "dates": (
        dict(d=[f"{i % 12 + 1:02}/{i % 11 + 1:02}/2024" for i in range(N)], x=np.arange(N) % 7, y=np.arange(N) / 3),
        0,
        "dates read as month/day/year, could be day/month/year",
    ),
    "more columns than rows": (
        {f"x{j}": np.random.default_rng(j).normal(size=20) for j in range(50)} | {"y": ["a", "b"] * 10},
        0,
        "CHOSEN",
    ),
}


@pytest.mark.parametrize("name", NASTY)
def test_nasty_tables_end_in_words(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    columns, code, words = NASTY[name]
    assert run(["select", table(**columns), "--target", "y", "--folds", "4"]) == code
    captured = capsys.readouterr()
    assert words in captured.out + captured.err
    assert "\x1b" not in captured.out + captured.err and "‮" not in captured.out
    assert "Traceback" not in captured.err and "Warning" not in captured.err
    assert captured.err == "" if code == 0 else captured.err.count("\n") == 1
    assert Path("t.tenfold").exists() == (code == 0)


def test_as_many_categories_as_rows(capsys: pytest.CaptureFixture[str]) -> None:
    """Six thousand; tests/test_categories.py codes a hundred thousand."""
    n = 6_000
    made = rng().permutation(n)
    file = table(
        many=[f"c{i}" for i in np.minimum(made, n - 2)],
        half=[f"h{i // 2}" for i in made],
        some=[f"s{i % 7}" for i in made],
        x=rng().normal(size=n),
        y=np.random.default_rng(1).normal(size=n),
    )
    assert run(["select", file, "--target", "y", "--folds", "3", "--effort", "quick"]) == 0
    out = capsys.readouterr().out
    assert "5,999 different texts in 6,000 rows, left out" in out and "no value occurs in 5 rows" in out
    assert "7 coded columns (trees: on the 2 as they are)" in out  # x, and six of the seven levels of `some`


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"a,y\n", "no rows"),
        (b"\x00\x01\x02\xff" * 40, "not a text file"),
        (b"a,y\n1,2\n1,2,3,4\n", "line 3: 2 fields expected as in the header, 4 found"),
    ],
)
def test_files_that_are_no_tables(content: bytes, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.csv").write_bytes(content)
    assert run(["select", "bad.csv", "--target", "y"]) == 3
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1


def test_ctrl_c_saves_what_is_complete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    work = Race._record

    def heard(self: Race, number: int, held: Any, unit: Any) -> None:
        if len(self.done) == 3:
            raise KeyboardInterrupt
        work(self, number, held, unit)

    monkeypatch.setattr(Race, "_record", heard)
    assert run(["demo", "--folds", "4"]) == 130
    out = capsys.readouterr().out
    assert "Stopped by you" in out and "after 3 of" in out and "units of work" in out
    assert "the choice repeated without each 5th of the rows of one fold" in " ".join(out.split())
    assert run(["predict", "penguins.tenfold", str(PENGUINS), "--out", "a.csv"]) == 0


def test_a_file_that_ends_too_early_is_not_said_to_be_a_stop(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def damaged(*_: object, **__: object) -> None:
        raise EOFError("marshal data too short")

    monkeypatch.setattr(Race, "run", damaged)
    assert run(["demo", "--quiet"]) == 1
    told = capsys.readouterr().err
    assert "a fault in tenfold" in told and "ends too early: marshal data too short" in told


def test_without_the_extra_one_sentence() -> None:
    for absent in ("typer", "polars", "markupsafe"):
        block = f"import sys; sys.modules[{absent!r}] = None; sys.argv = ['tenfold', 'demo']; from tenfold.app.cli import main; main()"
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and "pip install 'tenfold[app]'" in done.stderr


def test_without_what_makes_pages_one_sentence() -> None:
    """It is loaded late: the doctor works without it, and says so."""
    table(x=rng().normal(size=40), y=rng().normal(size=40))
    arguments = ["tenfold", "cluster", "t.csv", "--clusters", "2"]
    block = f"import sys; sys.modules['jinja2'] = None; sys.argv = {arguments}; from tenfold.app.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "jinja2 and markupsafe: install them with" in done.stderr


def test_a_terminal_without_unicode() -> None:
    table(**{"größe": rng().normal(size=40), "y": rng().normal(size=40)})
    command = [sys.executable, "-m", "tenfold.app.cli", "select", "t.csv", "--target", "y", "--folds", "3"]
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=ascii_only, check=False)
    assert done.returncode == 0 and b"gr??e" in done.stdout


@pytest.mark.parametrize("module", ["tenfold", "tenfold.app.cli"])
def test_as_a_program(module: str) -> None:
    done = subprocess.run([sys.executable, "-m", module, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"tenfold {tenfold.__version__}\n"
    overview = [sys.executable, "-X", "importtime", "-m", module]
    listed = subprocess.run(overview, capture_output=True, text=True, check=True)
    assert all(command in listed.stdout for command in ("select", "demo", "predict", "inspect"))
    assert not any(f" {library}\n" in listed.stderr for library in ("numpy", "scipy", "polars"))  # only commands need them
    wrong = subprocess.run([sys.executable, "-m", module, "inspect", "nowhere"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 3 and wrong.stderr.startswith("tenfold: ") and wrong.stderr.count("\n") == 1


# --- words ---------------------------------------------------------------------------------------------


def test_figures_and_names() -> None:
    shown = [figure(v) for v in (0.41269, 12.3456, 180796.0, 1e-7, 0.0, None, float("nan"))]
    assert shown == ["0.4127", "12.35", "180,796", "1e-07", "0.0000", "-", "-"]
    assert figure(0.8041, "accuracy") == "80.4%"
    assert clean("a\x1b[31m\u202eb\u200b") == "a�[31m�b�"


def test_bars_share_one_scale() -> None:
    rows = [dict(score=s, error=0.1) for s in (1.0, 1.5, 2.0)] + [dict(score=float("nan"), error=float("nan"))]
    bars = intervals(rows)
    assert bars[0].index("o") < bars[1].index("o") and bars[3] == ""
    assert bars[0].startswith("|") and max(len(bar) for bar in bars) <= 21


def test_events_have_a_method_each() -> None:
    events = (
        "start",
        "read",
        "task",
        "columns",
        "checks",
        "plan",
        "interrupted",
        "board",
        "estimate",
        "decisions",
        "chosen",
        "saved",
        "done",
    )
    assert all(hasattr(Text, f"_{event}") for event in events)


@pytest.mark.parametrize(
    ("metric", "board", "honest", "flatters"),
    [
        ("log_loss", 0.1045, 0.1031, False),
        ("log_loss", 0.1031, 0.1045, True),
        ("accuracy", 0.90, 0.91, False),
        ("accuracy", 0.91, 0.90, True),
        ("accuracy", 0.90001, 0.90, False),  # the same number as it is printed
    ],
)
def test_the_board_is_said_to_flatter_only_where_it_does(
    metric: str, board: float, honest: float, flatters: bool
) -> None:
    assert ("so it flatters" in estimate(metric, board, honest)) == flatters


def estimate(metric: str, board: float, honest: float, **more: Any) -> str:
    """The text of an estimate."""
    value = dict(metric=metric, value=honest, low=0.0, high=1.0)
    labels = dict(guess={metric: 0.5}, guess_labels={metric: "guessing"}, search=value, gain=value)
    shape = dict(rounds=10, rows=100, settings=20)
    facts = dict(estimates=[value], metric=metric, signal=True, board=board, **labels, **shape, **more)
    return "\n".join(Text()._estimate(**facts))


def test_the_estimate_is_of_the_search() -> None:
    """Whose score it is, how it was found, and what the rounds took."""
    mixed = estimate("rmse", 1.0, 1.0, method="nested cross-validation", picks=["ridge"] * 7 + ["forest"] * 2 + ["tree"])
    assert "HONEST ESTIMATE of the whole search, on new rows" in mixed
    assert "By nested cross-validation; it took 7 of 10 times ridge, 2 of 10 times forest, 1 of 10 times tree." in mixed


def test_ensembles_of_rounds_are_counted_together() -> None:
    told = estimate("rmse", 1.0, 1.0, method="folds", picks=[*(f"ensemble of {k}" for k in range(3, 8)), "ridge"])
    assert "it took 5 of 6 times an ensemble, 1 of 6 times ridge." in told


def test_the_heaviest_members_are_named() -> None:
    members = [dict(model=f"model {k}", weight=w) for k, w in enumerate((0.4, 0.2, 0.1, 0.1, 0.1, 0.06, 0.04))]
    many, few = ("\n".join(Text()._chosen("ensemble", [], False, some, "best", None, None, "rmse")) for some in (members, members[:6]))
    assert "10% model 4, 2 lighter ones (all in run.json)" in many and "model 5" not in many
    assert few.endswith("6% model 5")  # one more is named, as it takes no more room


def test_flattery_is_told() -> None:
    assert "so it flatters." in estimate("log_loss", 0.0993, 0.1021)
    assert "did not flatter this time." in estimate("log_loss", 0.0993, 0.0990)


@pytest.fixture(scope="module")
def events() -> list[tuple[str, dict[str, Any]]]:
    """What is heard of a run."""
    heard: list[tuple[str, dict[str, Any]]] = []
    with pytest.MonkeyPatch.context() as monkeypatch:
        shrink(monkeypatch, 10, (5, 20))
        tenfold.select(PENGUINS, "species", folds=3, listen=lambda event, **facts: heard.append((event, facts)))
    return heard


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_lines_are_as_wide_as_the_terminal(width: int, events: list[tuple[str, dict[str, Any]]]) -> None:
    """No word is broken, no line but a command is longer, and wide terminals show more of the board."""
    out = [io.StringIO(), io.StringIO()]
    shows = [Text(out[0], 10_000), Text(out[1], width)]
    for event, facts in events:
        for show in shows:
            show(event, **facts)
    command = "tenfold predict f " + "x" * 90
    for show in shows:
        show("saved", folder="f", size="1 KB", rows=False, files=[], commands=[f"{command}     predictions"], notes=[])
    whole, narrow = (one.getvalue() for one in out)
    lines = narrow.splitlines()
    assert max(len(line) for line in lines if command not in line) <= width
    kept = {word for word in narrow.split() if not word.endswith("…")}
    assert kept - {"loss:", "better."} <= set(whole.split())
    (head,) = [line for line in lines if line.startswith("RACE") and "against #1" in line]
    assert ("one fit" in head) == (width >= 100) and ("lower is better" in head) == (width >= 140)


def test_lines_are_broken_between_words() -> None:
    assert wrapped("NOTE     one two three four", 22) == ["NOTE     one two three", "         four"]
    assert wrapped("  ! one two three", 12) == ["  ! one two", "    three"]
    assert wrapped("x" + "y" * 30, 12) == ["x" + "y" * 30]  # a path is not broken
    assert wrapped("short", 80) == ["short"]
    assert wrapped("  AUC     0.9   95% range   guess", 20) == ["  AUC     0.9", "         95% range", "         guess"]


def test_a_metric_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", str(PENGUINS), "--target", "species", "--metric", "f3"]) == 2
    assert "--metric f3 is not known: choose one of accuracy, log_loss" in capsys.readouterr().err


def test_options_by_the_names_that_others_use(capsys: pytest.CaptureFixture[str]) -> None:
    x = rng().normal(size=60)
    file = table(x=x, y=np.where(x + rng().normal(size=60) > 0, "up", "down"))
    asked = ["--metric", "AUC", "--task", "classification", "--folds", "3", "--quiet"]
    assert run(["select", file, "--target", "y", *asked]) == 0
    assert "AUC" in capsys.readouterr().out
    for arguments in (["-h"], ["select", "-h"], ["predict", "--help"]):
        assert run(arguments) == 0 and "Usage: tenfold" in capsys.readouterr().out


def test_predictions_never_replace_the_table(penguins: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rows.csv").write_bytes(PENGUINS.read_bytes())
    assert run(["predict", "penguins.tenfold", "rows.csv", "--out", "./rows.csv"]) == 2
    assert Path("rows.csv").read_bytes() == PENGUINS.read_bytes()
    assert "is the table itself" in capsys.readouterr().err


def test_two_runs_write_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = rng()
    x = generator.normal(size=120)
    z = generator.normal(size=120)
    name = table(x=x, z=z, y=2.0 * (x > 0.3) * (z > 0) + 0.1 * generator.normal(size=120))  # what trees are best at
    for out in ("one", "two"):
        assert run(["select", name, "--target", "y", "--folds", "3", "--quiet", "--out", out]) == 0
    assert any(part.startswith(("Extra", "Random", "HistGradient")) for part in tenfold.inspect("one/model.tenfold").parts)
    assert Path("one/model.tenfold").read_bytes() == Path("two/model.tenfold").read_bytes()


def test_notes_and_labels_read_well() -> None:
    """What a user of the command cannot mend is not asked of him, and a class called 0 does not run into its count."""
    warned = tenfold.NotConverged("LogisticRegression: max |gradient| is 0.0002 after 100 passes: raise max_iter")
    notes = {"logistic": _warning_text(warned), "linear": _warning_text(tenfold.Degenerate("LDA: 2 columns are alike: drop one"))}
    row = dict(model="m", score=0.5, error=0.1, against="best", rank=1, others={"r2": -3.6e-05}, seconds=0.1)
    lines = Text()._board([row], "rmse", False, notes)
    assert "  note: logistic: stopped before it had converged (max |gradient| is 0.0002 after 100 passes)" in lines
    assert "  note: linear: 2 columns are alike" in lines
    assert "0.0000   0.1 s" in lines[2] and figure(-3.6e-05, "log_loss") == "-3.6e-05"
    facts = dict(classes=[("0", 30), ("Adelie", 10)])
    assert "0: 30 (75.0%)   Adelie 10 (25.0%)" in Text()._task("classes", "log_loss", None, [], **facts)[0]


def test_inspect_tells_what_a_run_is_worth(penguins: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "penguins.tenfold"]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"\nPREDICTS 'species'   \w+.*\nTRAINED  on penguins.csv, 344 rows\nESTIMATE log loss 0\.\d+, 95% range", out
    )
    record = Path("penguins.tenfold", "run.json")
    damaged = json.loads(record.read_text())
    damaged["data"]["rows_used"] = "many"
    for text in ("{", "[]", '{"made_by": "tenfold select", "data": 3}', json.dumps(damaged)):
        record.write_text(text)
        assert run(["inspect", "penguins.tenfold"]) == 0
        out = capsys.readouterr().out
        assert "PREDICTS" not in out and "training rows" in out
    for part in ("data", "settings", "estimate"):
        record.write_text(json.dumps(damaged | {part: 3}))
        assert run(["compare", "penguins.tenfold", "penguins.tenfold"]) == 0
        assert run(["report", "penguins.tenfold"]) == 3 and "holds no run" in capsys.readouterr().err
    assert run(["inspect", "nowhere"]) == 3 and run(["inspect", "."]) == 3
    assert "there is no nowhere" in capsys.readouterr().err


def test_names_of_learners_keep_their_ends_where_they_are_cut() -> None:
    """Two settings of one family differ there: they were the same on the board, and where an ensemble is named."""
    names = [f"boosted trees of 31 leaves, slow, parts of rows and columns, rounds {rounds}" for rounds in (200, 400)]
    assert [full(name) for name in names] == names
    for most in (20, 30, 44, 60):
        cut = [folded(name, most) for name in names]
        assert cut[0] != cut[1] and max(map(len, cut)) <= most
        assert {word for word in cut[0].split() if word != "…"} <= set(names[0].split())
    assert folded("x" * 80, 30) == "x" * 29 + "…" and folded("short", 30) == "short"
