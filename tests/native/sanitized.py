"""A pytest plugin: puts the extension module named by TENFOLD_KERNELS in the place of `tenfold._kernels`."""

import importlib.util
import os
import sys

spec = importlib.util.spec_from_file_location("tenfold._kernels", os.environ["TENFOLD_KERNELS"])
assert spec is not None and spec.loader is not None
module = importlib.util.module_from_spec(spec)
sys.modules["tenfold._kernels"] = module
spec.loader.exec_module(module)


def pytest_report_header() -> str:
    return f"kernels under test: {module.__file__}"
