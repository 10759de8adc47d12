"""Files and folders are written whole or not at all: through links, into pipes, after a kill, on a full device."""

from __future__ import annotations

import io
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

import tenfold
from tenfold.core.errors import BadFile
from tenfold.saved import writing
from tenfold.saved.writing import new_folder, put_folder, replacing

MODEL = tenfold.LinearRegression().fit(np.arange(6.0)[:, None], np.arange(6.0))


@pytest.fixture(autouse=True)
def not_yet_cleaned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "_cleaned", set())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    tenfold.save(MODEL, tmp_path / "disk" / "first")
    (tmp_path / "link").symlink_to("disk/first")
    (tmp_path / "dangling").symlink_to("disk/second")
    for name in ("link", "dangling"):
        tenfold.save(tenfold.Ridge().fit(np.eye(3), np.arange(3.0)), tmp_path / name)
        assert (tmp_path / name).is_symlink() and isinstance(tenfold.load(tmp_path / name), tenfold.Ridge)
    assert names(tmp_path / "disk") == ["first", "second"] and names(tmp_path) == ["dangling", "disk", "link"]


def test_links_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(BadFile, match="cannot be written"):
        tenfold.save(MODEL, tmp_path / "a")
    assert names(tmp_path) == ["a", "b"] and (tmp_path / "a").is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", io.BytesIO()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.write(pipe.read_bytes()))
    reader.start()
    tenfold.save(MODEL, pipe)
    reader.join()
    tenfold.save(MODEL, tmp_path / "file")
    assert stat.S_ISFIFO(pipe.stat().st_mode) and read.getvalue() == (tmp_path / "file").read_bytes()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the devices of Linux")
def test_devices_keep_their_place() -> None:
    tenfold.save(MODEL, "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(BadFile, match=r"/dev/full: cannot be written .No space left on device.: free some space"):
        tenfold.save(MODEL, "/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a folder among the devices of Linux")
def test_a_file_in_memory_is_replaced_whole() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder, "m.tenfold")
        path.write_bytes(b"old")
        with open(path, "rb") as reader:
            tenfold.save(MODEL, path)
            assert reader.read() == b"old" and tenfold.load(path).n_features_in_ == 1


def test_open_files_keep_their_place(tmp_path: Path) -> None:
    with open(tmp_path / "out", "wb") as file:
        for path in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}"):
            assert not Path(path).exists() or writing.is_stream(path)
    assert all(writing.is_stream(f"/dev/{name}") for name in ("stdin", "stdout", "stderr", "null") if os.path.exists(f"/dev/{name}"))
    assert not writing.is_stream(str(tmp_path / "out"))


def test_folders_are_refused_and_rights_are_kept(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"Is a directory.*choose the name of a file"):
        tenfold.save(MODEL, tmp_path)
    with pytest.raises(BadFile, match="make the folder first"):
        tenfold.save(MODEL, tmp_path / "absent" / "model")
    file = tmp_path / "model"
    file.write_bytes(b"")
    file.chmod(0o600)
    tenfold.save(MODEL, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and names(tmp_path) == ["model"]


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    for failure in (OSError(28, "No space left on device"), KeyboardInterrupt()):
        with pytest.raises((BadFile, KeyboardInterrupt)), replacing(str(tmp_path / "file")) as file:
            file.write(b"half")
            raise failure
        assert (tmp_path / "file").read_bytes() == b"old" and names(tmp_path) == ["file"]


KILLED = """
import os, signal, sys
from tenfold.saved.writing import new_folder, replacing
with new_folder(sys.argv[1] + "/run") as folder:
    open(folder + "/half", "wb").close()
    with replacing(sys.argv[1] + "/file") as file:
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(writing.fcntl is None, reason="needs locks")
def test_what_a_killed_process_leaves_is_removed_by_the_next(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL and len(names(tmp_path)) == 2
    with replacing(str(tmp_path / "other")) as mine:
        mine.write(b"whole")
        writing._cleaned.clear()
        with replacing(str(tmp_path / "file")) as file:  # removes what nobody writes, not what another writes now
            file.write(b"new")
    assert names(tmp_path) == ["file", "other"] and (tmp_path / "other").read_bytes() == b"whole"


@pytest.mark.parametrize("exchanged", [True, False])
def test_folders_change_places(tmp_path: Path, exchanged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchanged:
        monkeypatch.setattr(writing, "_exchange", lambda one, other: False)
    place = tmp_path / "run"
    for content in (b"first", b"second"):
        with new_folder(str(place)) as new:
            Path(new, "file").write_bytes(content)
            put_folder(new, str(place))
        assert names(tmp_path) == ["run"] and (place / "file").read_bytes() == content


def test_an_interruption_between_two_renames_leaves_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "run"
    place.mkdir()
    (place / "file").write_bytes(b"old")
    rename = os.rename

    def interrupted(source: str, target: str) -> None:
        if target == str(place) and not source.endswith(".old"):
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(writing, "_exchange", lambda one, other: False)
    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt), new_folder(str(place)) as new:
        put_folder(new, str(place))
    assert (place / "file").read_bytes() == b"old" and names(tmp_path) == ["run"]
