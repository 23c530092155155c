"""One mistake in a copy of the package, and the tests that should notice it."""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.mutations import mutated
from tests.mutations.mutation import Mutation

ROOT = Path(__file__).parents[2]
BESIDE = {
    "dot_product": ["attention_properties"],
    "stack": ["encoder", "decoder", "transformer"],
    "decoder": ["decoding"],
    "language_model": ["language_model_training", "decoding"],
    "cache": ["decoding"],
}
"""Tests that belong to a module beside those that bear its name."""


class FirstFailure:
    """A plugin for pytest that remembers the first test that fails, or what cannot even be collected."""

    def __init__(self) -> None:
        self.name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._remember(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._remember(report)

    def _remember(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid.removeprefix("tests/test_").replace(".py::test_", ": ")


def tests_of(module: str) -> list[str]:
    """Give the test files for a module; the longest comes last."""
    names = [module, *BESIDE.get(module, []), "information_flow"]
    paths = [Path("tests", name) for name in names]
    tests = [path.with_name(f"test_{path.name}.py") for path in paths]
    return [test.as_posix() for test in tests if (ROOT / test).exists()]


def run_tests(tests: list[str], edited: dict[str, str]) -> tuple[int, str]:
    """Run tests on a copy of the package with some modules edited; give pytest's exit status and what failed first.

    It takes over the process that it runs in: whatever was imported of the package and its tests is forgotten.
    """
    with TemporaryDirectory() as folder:
        shutil.copy(ROOT / "pyproject.toml", folder)
        for part in ["transformer_lab", "tests"]:
            shutil.copytree(ROOT / part, Path(folder, part), ignore=shutil.ignore_patterns("__pycache__"))
        for module, source in edited.items():
            Path(folder, "transformer_lab", f"{module}.py").write_text(source, encoding="utf-8")
        for name in [name for name in sys.modules if name.split(".")[0] in ("transformer_lab", "tests")]:
            del sys.modules[name]
        os.chdir(folder)
        sys.path.insert(0, folder)  # before an installed package
        first = FirstFailure()
        with open(os.devnull, "w") as sys.stdout:
            options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", f"--basetemp={folder}/temporary"]
            status = pytest.main([*options, *tests], plugins=[first])
        os.chdir(ROOT)
    return int(status), first.name


def try_out(module: str, mutation: Mutation) -> dict[str, object]:
    """Give the row of the table for one mistake."""
    status, failed = run_tests(tests_of(module), {module: mutated(module, mutation)})
    result = {0: "survived", 1: "killed"}.get(status, f"pytest ended with {status}")
    row = {"row": mutation.row, "module": module, "mistake": mutation.mistake, "result": result}
    row["by or why"] = failed or mutation.survives
    print(*row.values(), sep=" | ", file=sys.stderr, flush=True)
    return row
