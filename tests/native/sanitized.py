"""A pytest plugin: puts the extension modules in the folder TENFOLD_MODULES in the place of those of `tenfold`."""

import importlib.util
import os
import sys
from pathlib import Path

# `_kernels` first: the others ask it for the runs that stop them.
files = sorted(Path(os.environ["TENFOLD_MODULES"]).glob("_*.so"), key=lambda file: not file.name.startswith("_kernels"))
for file in files:
    name = f"tenfold.{file.name.partition('.')[0]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


def pytest_report_header() -> str:
    return f"modules under test: {', '.join(file.name for file in files)}"
