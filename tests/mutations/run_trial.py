"""One mistake in a copy of the package, and the tests that should notice it."""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.mutations import mutated
from tests.mutations.mutation import Mutation

ROOT = Path(__file__).parents[2]
FURTHER_TESTS = {
    "attention/dot_product": ["attention/test_properties.py"],
    "attention/kv_cache": ["generation/test_decode.py"],
    "layers/decoder_layer": ["models/test_decoder.py"],
    "layers/encoder_layer": ["models/test_encoder.py"],
    "models/layer_stack": ["models/test_encoder.py", "models/test_decoder.py", "models/test_transformer.py"],
}
"""Test files that belong to a module beside the one that bears its name."""
FOR_ALL = "models/test_information_flow.py"


class FirstFailure:
    """A plugin for pytest that remembers the first test that fails, or what cannot even be collected.

    Args:
        edited: Names of the edited modules' files. A name or an attribute that one of them lacks is no bug that a test
            has found, but one of the edit.
    """

    def __init__(self, edited: list[str]) -> None:
        self.edited, self.name, self.broken_edit = edited, "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._remember(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._remember(report)

    def pytest_exception_interact(self, call: pytest.CallInfo[Any]) -> None:
        if call.excinfo and call.excinfo.errisinstance((NameError, AttributeError)):
            at = str(call.excinfo.traceback[-1].path)
            if not self.broken_edit and at.endswith(tuple(self.edited)):
                self.broken_edit = call.excinfo.exconly()

    def _remember(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid.removeprefix("tests/transformer_lab/").replace(".py::test_", ": ")[:120]


def relevant_tests(module: str) -> list[str]:
    """Return the test files for a module: the one that mirrors it, those named beside it, and the longest last."""
    room, _, name = module.rpartition("/")
    files = [f"{room}/test_{name}.py", *FURTHER_TESTS.get(module, []), FOR_ALL]
    return [f"tests/transformer_lab/{file}" for file in dict.fromkeys(files)]


def run_tests(tests: list[str], edited: dict[str, str]) -> tuple[int, str, str]:
    """Run tests on a copy of the package with some modules edited.

    It takes over the process that it runs in: whatever was imported of the package and its tests is forgotten.

    Args:
        tests: The test files.
        edited: Sources by module.

    Returns:
        The exit status of pytest, the test that failed first, and what is wrong with the edit itself.
    """
    with TemporaryDirectory() as folder:
        for settings in ["pyproject.toml", "conftest.py"]:
            shutil.copy(ROOT / settings, folder)
        for part in ["transformer_lab", "tests"]:
            shutil.copytree(ROOT / part, Path(folder, part), ignore=shutil.ignore_patterns("__pycache__"))
        files = [f"transformer_lab/{module}.py" for module in edited]
        for file, source in zip(files, edited.values(), strict=True):
            Path(folder, file).write_text(source, encoding="utf-8")
        for name in [
            name for name in sys.modules if name.split(".")[0] in ("transformer_lab", "transformer_course", "tests")
        ]:
            del sys.modules[name]
        os.chdir(folder)
        sys.path.insert(0, folder)  # before an installed package
        first = FirstFailure(files)
        with open(os.devnull, "w") as sys.stdout:
            options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", f"--basetemp={folder}/temporary"]
            status = pytest.main([*options, *tests], plugins=[first])
        os.chdir(ROOT)
    return int(status), first.name, first.broken_edit


def try_out(module: str, mutation: Mutation) -> dict[str, object]:
    """Return the row of the table for one mistake."""
    status, failed, broken = run_tests(relevant_tests(module), {module: mutated(module, mutation)})
    result = "does not run" if broken else {0: "survived", 1: "killed"}.get(status, f"pytest ended with {status}")
    row = {"row": mutation.row, "module": module, "mistake": mutation.mistake, "result": result}
    row["by"] = broken or failed
    print(*row.values(), sep=" | ", file=sys.stderr, flush=True)
    return row
