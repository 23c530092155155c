"""Put the mistakes people really make into the library's code, one at a time, and see which test notices.

    python -m tests.mutations            all of them, in a few minutes
    python -m tests.mutations 7 18       only those of rows 7 and 18

Each is put into a copy of the package in a temporary folder, where the tests that mirror the edited module are run
until the first fails. It prints what was killed by which test and what survived, and fails if something survives for
which no reason is known.
"""

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from tests.mutations import ELSEWHERE, MUTATIONS, mutated
from tests.mutations.mutation import Mutation

ROOT = Path(__file__).parents[2]
BESIDE = {"dot_product": ["attention_properties"], "stack": ["encoder", "decoder", "transformer"]}
"""Tests that belong to a module beside those that bear its name."""


def tests_of(module: str) -> list[str]:
    """Give the test files for a module; the longest comes last."""
    names = [module, *BESIDE.get(module, []), "information_flow"]
    return [path for name in names if (ROOT / (path := f"tests/test_{name}.py")).exists()]


def run_tests(tests: list[str], edited: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run tests on a copy of the package with some modules edited, until the first fails."""
    with TemporaryDirectory() as folder:
        shutil.copy(ROOT / "pyproject.toml", folder)
        for part in ["transformer_lab", "tests"]:
            shutil.copytree(ROOT / part, Path(folder, part), ignore=shutil.ignore_patterns("__pycache__"))
        for module, source in edited.items():
            Path(folder, "transformer_lab", f"{module}.py").write_text(source, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", *tests]
        # Started in its own folder, the copy comes before an installed package; here it does for subprocesses, too.
        env = os.environ | {"PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False)


def try_out(module: str, mutation: Mutation) -> dict[str, object]:
    """Give the row of the table for one mistake."""
    done = run_tests(tests_of(module), {module: mutated(module, mutation)})
    result = {0: "survived", 1: "killed"}.get(done.returncode, f"pytest ended with {done.returncode}")
    failed = re.search(r"^FAILED tests/test_(\w+)\.py::test_(\w+)", done.stdout, flags=re.MULTILINE)
    why = f"{failed[1]}: {failed[2]}" if failed else mutation.survives
    row = {"row": mutation.row, "module": module, "mistake": mutation.mistake, "result": result, "by or why": why}
    print(*row.values(), sep=" | ", file=sys.stderr)
    return row


def main(rows: list[int]) -> int:
    """Try out the mistakes of these rows, or all; give the exit status."""
    chosen = [(module, mutation) for module, mutation in MUTATIONS if not rows or mutation.row in rows]
    tests = dict.fromkeys(test for module, _ in chosen for test in tests_of(module))
    if (sound := run_tests(list(tests), {})).returncode:
        print(f"the tests fail without any mistake:\n{sound.stdout}{sound.stderr}")
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        table = pd.DataFrame(pool.map(try_out, *zip(*chosen, strict=True))).sort_values("row", kind="stable")
    print(table.to_string(index=False, justify="left"))
    print(table.result.value_counts().to_string(header=False))
    for row, where in ELSEWHERE.items():
        print(f"row {row} is not about the model: {where}")
    return int(((table.result != "killed") & (table["by or why"] == "")).any())


if __name__ == "__main__":
    sys.exit(main([int(row) for row in sys.argv[1:]]))
