"""The bytes of a file, unpacked (gzip, zstd, zip), and their encoding. A small file that would unpack to very much is refused."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from tenfold.core.errors import BadFile

PACKED = (".gz", ".zst", ".zstd", ".zip")
MOST_TIMES = 2000  # what text unpacks to, in sizes of the file: zeros and copies alone go further
LEAST_SUSPECT = 1 << 28  # bytes: less than that is never suspect
AT_ONCE = 1 << 20
TEXT = frozenset((9, 10, 13, *range(32, 127), *range(160, 256)))  # bytes of western text
BOMS = {  # the longer ones first: UTF-32 begins as UTF-16 does
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip


def is_packed(path: Path) -> bool:
    return path.suffix.lower() in PACKED


def inner_name(path: Path) -> str:
    """churn.csv.gz -> churn.csv."""
    return path.name[: -len(path.suffix)] if is_packed(path) else path.name


def open_bytes(path: Path) -> IO[bytes]:
    """The file for reading, unpacked on the way."""
    opener: dict[str, Callable[[Path], Any]] = {".gz": gzip.open, ".zip": _member, ".zst": _zstd, ".zstd": _zstd}
    file: IO[bytes] = opener.get(path.suffix.lower(), _plain)(path)
    return file


def _plain(path: Path) -> Any:
    return open(path, "rb")


def bytes_of(path: Path, most: int = -1) -> bytes:
    """A file, unpacked; or its first bytes."""
    try:
        with open_bytes(path) as file:
            return bytes(file.read(most)) if most >= 0 or not is_packed(path) else _all(path, file)
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile) as reason:
        raise BadFile(f"{path} cannot be unpacked ({reason}): it is damaged, or not of the kind of its name") from None


def _all(path: Path, file: IO[bytes]) -> bytes:
    """All of a packed file, unless it is one that was made to fill the memory."""
    limit = max(LEAST_SUSPECT, MOST_TIMES * path.stat().st_size)
    held, into = 0, io.BytesIO()
    while piece := file.read(AT_ONCE):
        held += len(piece)
        if held > limit:
            raise BadFile(f"{path} unpacks to more than {limit:,} bytes: if it is what you want, unpack it first")
        into.write(piece)
    return into.getvalue()


def _member(path: Path) -> Any:
    """The one file in a zip."""
    archive = zipfile.ZipFile(path)
    names = [one for one in archive.namelist() if not one.endswith("/") and not one.startswith("__MACOSX")]
    if len(names) != 1:
        shown = ", ".join(names[:5]) or "nothing"
        raise BadFile(f"{path} holds {len(names)} files ({shown}): unpack it, and give the one that is meant")
    member = archive.open(names[0])
    archive.close()  # the file stays open until its member is closed
    return member


def _zstd(path: Path) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise BadFile(f"reading {path.name} needs pyarrow: pip install 'tenfold[app]'") from None
    return pyarrow.CompressedInputStream(pyarrow.OSFile(str(path)), "zstd")


def encoding_of(start: bytes) -> str | None:
    """The encoding that the first bytes announce; None where they announce none."""
    for mark, name in BOMS.items():
        if start.startswith(mark):
            return name
    even, odd = start[::2].count(0), start[1::2].count(0)
    half = len(start) // 2
    if half < 4 or max(even, odd) <= 0.3 * half or min(even, odd) >= 0.05 * half:
        return None
    if sum(one in TEXT for one in start) + even + odd > 0.9 * len(start):
        return "utf-16-le" if odd > even else "utf-16-be"  # western text in two bytes a character, unannounced
    return None
