"""Writing a file or a folder whole or not at all: under another name beside it, then renamed.

The other name is locked while it is written. A process that is killed leaves it behind without the lock, and the next one that
writes into the same folder removes it.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tenfold.core.errors import BadFile

try:
    import fcntl
except ImportError:  # no locks on Windows: what a killed process leaves there stays
    fcntl = None  # type: ignore[assignment]  # a module, or nothing

OURS = re.compile(r"\.tenfold-[0-9a-f]{8}\.tmp")
OPEN_FILES = ("/dev/fd/", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/")  # other files below /dev are files as any others
HERE, EXCHANGE = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of Linux
_cleaned: set[str] = set()  # folders looked through by this process


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A new file that takes the place of the old one when all of it is on the disk, and never before.

    Of a link, what it points to is replaced. A pipe or a device keeps its place: the content is written into it.
    """
    stream_like = is_stream(path)
    try:
        if stream_like:
            content = io.BytesIO()
            yield content
            with open(path, "wb", buffering=0) as stream:
                _write_all(stream, content.getbuffer())
            return
        target = os.path.realpath(path)
        wrong = errno.EISDIR if os.path.isdir(target) else errno.ELOOP if os.path.islink(target) else 0
        if wrong:
            raise OSError(wrong, os.strerror(wrong))
        with _locked_file(os.path.dirname(target)) as (temporary, file):
            yield file
            file.flush()
            with contextlib.suppress(OSError, AttributeError):  # the rights of the file that is replaced
                os.fchmod(file.fileno(), stat.S_IMODE(os.stat(target).st_mode))
            os.fsync(file.fileno())
            os.replace(temporary, target)
        sync_folder(os.path.dirname(target))
    except OSError as failure:
        raise cannot_write(path, failure, kept=not stream_like) from failure


def cannot_write(path: str, failure: OSError, kept: bool = True) -> BadFile:
    """What is in the way of writing, with a remedy; `kept`: what had the name before is still there."""
    remedy = {
        errno.ENOSPC: "free some space or choose another folder",
        errno.EDQUOT: "free some space or choose another folder",
        errno.EISDIR: "choose the name of a file",
        errno.ENOENT: "make the folder first",
        errno.EPIPE: "keep the reader of the pipe open",
    }.get(failure.errno or 0, "choose another place")
    rest = "; what was there is untouched" if kept and os.path.lexists(path) else ""
    return BadFile(f"{path}: cannot be written ({failure.strerror or failure}): {remedy}{rest}")


@contextlib.contextmanager
def written_as(path: str) -> Iterator[None]:
    """What cannot be written within is told by the name that it was to have, and not by that of a temporary file."""
    try:
        yield
    except (OSError, BadFile) as reason:
        failure = reason if isinstance(reason, OSError) else reason.__cause__
        if not isinstance(failure, OSError):
            raise
        raise cannot_write(path, failure) from None


def write_parquet(path: str, frame: Any) -> None:
    """A frame of polars as a file, which Python writes: what is in the way then is an OSError, as for other files."""
    content = io.BytesIO()
    frame.write_parquet(content)
    with open(path, "wb") as file:
        file.write(content.getbuffer())
        file.flush()
        os.fsync(file.fileno())


def cannot_keep(failure: OSError) -> BadFile:
    """What is in the way of a temporary file, whose folder nobody has named; there is none where no folder can be written."""
    where = f"the temporary folder{f' {tempfile.tempdir}' if tempfile.tempdir else ''}"
    return BadFile(f"{where}: cannot be written ({failure.strerror or failure}): free some space, or name another folder in TMPDIR")


def is_stream(path: str) -> bool:
    """Whether the path is a pipe, a device or a socket, or names an open file of this process."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) or os.path.abspath(path).startswith(OPEN_FILES)


def _write_all(stream: io.RawIOBase | BinaryIO, content: memoryview) -> None:
    done = 0
    while done < len(content):
        done += stream.write(content[done:]) or 0


@contextlib.contextmanager
def _locked_file(folder: str) -> Iterator[tuple[str, BinaryIO]]:
    """A new file in this folder, locked; it is gone afterwards unless it was renamed."""
    remove_stale(folder)
    while True:
        temporary = _new_name(folder)
        with open(temporary, "xb") as file:
            try:
                _lock(file.fileno())
                if os.fstat(file.fileno()).st_nlink == 0:
                    continue  # taken for a stale one by another process, in the moment before the lock
                yield temporary, file
                return
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)


@contextlib.contextmanager
def new_folder(beside: str) -> Iterator[str]:
    """A new folder beside this path, locked; what has this name afterwards is removed."""
    parent = os.path.dirname(beside)
    remove_stale(parent)
    temporary = _new_name(parent)
    os.mkdir(temporary)
    number = os.open(temporary, os.O_RDONLY) if fcntl else -1
    try:
        if fcntl:
            _lock(number)
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if number >= 0:
            os.close(number)


def check_can_hold(folder: Path, option: str) -> None:
    """Refuse, before any work is done, a place where no folder can be made. Rights alone do not tell: there are /proc, and full disks."""
    parent = folder.resolve().parent if folder.is_symlink() else folder.parent  # of a link, what it points to
    said = f"the folder {parent} cannot be written{{}}: choose another one with {option}"
    if not os.access(parent, os.W_OK):
        raise BadFile(said.format(""))
    try:
        with new_folder(os.path.join(parent, folder.name)):
            pass
    except OSError as failure:
        raise BadFile(said.format(f" ({failure.strerror or failure})")) from None


def put_folder(new: str, path: str) -> None:
    """Give a new folder its name; the one that has it goes to the name of the new one, in one step where the system can."""
    if not os.path.isdir(path):
        os.rename(new, path)
    elif not _exchange(new, path):
        old = f"{new}.old"
        os.rename(path, old)
        try:
            os.rename(new, path)
        except BaseException:
            os.rename(old, path)
            raise
        os.rename(old, new)
    sync_folder(os.path.dirname(path))


def _exchange(one: str, other: str) -> bool:
    """Change the names of two folders, in one step; False where the system cannot."""
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return bool(rename(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE) == 0)


def remove_stale(folder: str) -> None:
    """Remove what killed processes left in this folder: our names that nobody has locked. Once for each process."""
    if fcntl is None or folder in _cleaned:
        return
    _cleaned.add(folder)
    with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in [one for one in entries if OURS.fullmatch(one.name)]:
            with contextlib.suppress(OSError):
                _remove_unlocked(entry)


def _remove_unlocked(entry: os.DirEntry[str]) -> None:
    number = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
    finally:
        os.close(number)


def sync_folder(folder: str) -> None:
    """Names on the disk, where the system can."""
    with contextlib.suppress(OSError):
        number = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _lock(number: int) -> None:
    if fcntl:
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(number, fcntl.LOCK_EX)


def _new_name(folder: str) -> str:
    return os.path.join(folder, f".tenfold-{secrets.token_hex(4)}.tmp")
