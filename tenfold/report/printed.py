"""The page as a PDF, printed by a browser that is on the machine: nothing is fetched, and nothing is installed for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from tenfold.core.errors import BadFile, BadParameter
from tenfold.saved.writing import cannot_write, replacing

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
SECONDS = 120
QUIET = (  # no window, no first steps, no word with anybody: every name leads nowhere
    "--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--no-pdf-header-footer", "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


def browser() -> str:
    """A Chromium or Chrome on the PATH."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        raise BadParameter("--pdf: neither Chromium nor Chrome is on the PATH: open the page in any browser and print it from there")
    return found


def print_page(page: Path, out: Path) -> Path:
    """Print a page into a file, whole or not at all."""
    program = browser()
    with tempfile.TemporaryDirectory() as place:
        made = Path(place) / "page.pdf"
        words = [program, *QUIET, f"--user-data-dir={place}/profile", f"--print-to-pdf={made}"]
        words += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []  # it refuses to run for root with one
        try:
            ended = subprocess.run([*words, page.resolve().as_uri()], capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as reason:
            raise BadFile(f"{out} was not written: {Path(program).name} did not print the page ({reason})") from None
        if ended.returncode != 0 or not made.is_file():
            said = ended.stderr.decode("utf-8", "replace").strip().splitlines()
            raise BadFile(f"{out} was not written: {Path(program).name} did not print the page ({said[-1] if said else 'no reason given'})")
        try:
            with replacing(os.fspath(out)) as file:
                file.write(made.read_bytes())
        except OSError as reason:
            raise cannot_write(str(out), reason) from None
    return out
