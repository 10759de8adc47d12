"""No process ends for want of memory: each allocation of native code fails in turn, and threads find no room for their stacks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NATIVE = Path(__file__).with_name("native")


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process in which allocations can be made to fail."""
    compiler = shutil.which("c++")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs Linux and a C++ compiler")
    library = tmp_path_factory.mktemp("preloaded") / "failing_new.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-std=c++17", "-o", str(library), str(NATIVE / "failing_new.cpp")]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"allocation cannot be replaced here: {made.stderr[-200:]}")
    return {**os.environ, "LD_PRELOAD": str(library)}


@pytest.mark.parametrize("families", ["blocks,evaluation,prepare,neighbours,linkage,density", "trees,forests,boosting"])
def test_a_failed_allocation_is_a_memory_error_and_the_process_goes_on(families: str, preloaded: dict[str, str]) -> None:
    """Each allocation of each fit; `TENFOLD_EXHAUSTIVE=1` also each of those beyond the 200th, in a few minutes."""
    options = ["--all"] if os.environ.get("TENFOLD_EXHAUSTIVE") else []

    def counted(some: str, *more: str) -> dict[str, list[int]]:
        done = run("out_of_memory.py", some, *options, *more, env=preloaded)
        return {name: [int(n) for n in found.split()] for name, found in (line.split(": ") for line in done.splitlines())}

    counts = counted(families)
    for family in families.split(","):
        own = {name: found for name, found in counts.items() if name.startswith(family)}
        for _ in range(3):  # threads that find no work left, as on a busy machine, allocate nothing
            if sum(of_helpers for name, (_, _, of_helpers) in own.items() if "in threads" in name) == 0:
                own |= counted(family, "--threads")
        assert any(failures for failures, _, _ in own.values()), family
        for name, (failures, borne, _) in own.items():  # some kernels work in what their caller gives them
            assert borne < failures or failures == 0, f"{name}: no allocation failed that it could not do without"
        threaded = [of_helpers for name, (_, _, of_helpers) in own.items() if "in threads" in name]
        assert not threaded or sum(threaded) > 0, f"{family}: no allocation failed in a thread other than the main one"


def test_a_fit_beside_one_without_memory_is_untouched(preloaded: dict[str, str]) -> None:
    done = run("out_of_memory.py", "blocks,trees,forests,boosting", "--beside", env=preloaded)
    for line in done.splitlines():
        name, counts = line.split(": ")
        failures, meanwhile = map(int, counts.split())
        assert failures > 0 and meanwhile > 0, name


def test_every_native_entry_point_is_in_a_fit_whose_allocations_fail() -> None:
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    assert run("out_of_memory.py", "entry-points", env=plain).split() == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_threads_without_room_for_their_stacks_are_not_missed() -> None:
    plain = {
        name: value for name, value in os.environ.items() if name != "LD_PRELOAD"
    }  # the sanitizers take all there is
    for attempt in range(4):
        try:
            done, refused = map(int, run("address_space.py", env=plain).split())
            break
        except AssertionError as death:  # seldom, of data that other libraries keep for a thread: nobody can catch that
            if attempt == 3 or "cannot allocate memory for thread-local data" not in str(death):
                raise
    assert done > refused


def run(script: str, *arguments: str, env: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, str(NATIVE / script), *arguments], env=env, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
