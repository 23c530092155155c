"""Insert known mistakes into a copy of the library, one at a time, and check that a test fails.

    python -m tests.mutations                     try all mistakes (takes a few minutes)
    python -m tests.mutations 7 masks generation  try only row 7 of docs/mistakes.md, masks.py and generation/

For each mistake, the tests for the edited file run in a separate process until the first failure. The command prints
which test caught each mistake, and fails if no test caught a mistake.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from tests.mutations.mistakes import LIBRARY, MUTATIONS, Mutation

ROOT = LIBRARY.parent
FURTHER_TESTS = {
    "attention/dot_product.py": ["attention/test_properties.py"],
    "attention/kv_cache.py": ["generation/test_decode.py"],
    "layers/decoder_layer.py": ["models/test_decoder.py"],
    "layers/encoder_layer.py": ["models/test_encoder.py"],
    "models/layer_stack.py": ["models/test_encoder.py", "models/test_decoder.py", "models/test_transformer.py"],
}
"""Additional tests for files whose own test file does not catch all mistakes."""
TESTS_OF_ALL = "models/test_information_flow.py"


def relevant_tests(file: str) -> list[str]:
    """Return the test files for a library file, slowest last."""
    folder, name = file.split("/")
    tests = [f"{folder}/test_{name}", *FURTHER_TESTS.get(file, []), TESTS_OF_ALL]
    return [f"tests/transformer_lab/{test}" for test in tests]


def run_tests(tests: list[str], mutation: Mutation | None = None) -> dict[str, str]:
    """Run tests on a copy of the library with or without a mistake, and return the result and the failing test."""
    with TemporaryDirectory() as folder:
        for settings in ["pyproject.toml", "conftest.py"]:
            shutil.copy(ROOT / settings, folder)
        for package in ["transformer_lab", "tests"]:
            shutil.copytree(ROOT / package, Path(folder, package), ignore=shutil.ignore_patterns("__pycache__"))
        if mutation:
            Path(folder, "transformer_lab", mutation.file).write_text(mutation.mutated(), encoding="utf-8")
        options = ["-x", "-q", "-rfE", "--tb=no", "-n", "0", "-p", "no:cacheprovider", f"--basetemp={folder}/temporary"]
        environment = os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "300"}
        pytest = [sys.executable, "-m", "pytest", *options, *tests]
        run = subprocess.run(pytest, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    failure = re.search(r"^(?:FAILED|ERROR) (?:tests/transformer_lab/)?(.*)", run.stdout, re.MULTILINE)
    test, _, error = failure[1].partition(" - ") if failure else ("", "", "")
    if error.startswith(("NameError", "SyntaxError")):
        return {"result": "cannot run", "noticed by": error}
    result = {0: "survived", 1: "killed"}.get(run.returncode, f"pytest ended with {run.returncode}")
    return {"result": result, "noticed by": test}


def try_out(mutation: Mutation) -> dict[str, object]:
    """Test whether a mistake is caught, and return its row for the printed table."""
    row = {"row": mutation.row or "", "file": mutation.file, "mistake": mutation.mistake}
    row |= run_tests(relevant_tests(mutation.file), mutation)
    print(*row.values(), sep=" | ", file=sys.stderr, flush=True)
    return row


def main() -> int:
    """Try the selected mistakes, by default all of them, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__.splitlines()[0])
    parser.add_argument("selected", nargs="*", help="rows of docs/mistakes.md, files or folders to try (default: all)")
    selected = set(parser.parse_args().selected)
    chosen = [m for m in MUTATIONS if not selected or selected & {str(m.row), *m.file.removesuffix(".py").split("/")}]
    if not chosen:
        parser.error(f"no mistake has the row, file or folder {' or '.join(sorted(selected))}")
    tests = dict.fromkeys(test for mutation in chosen for test in relevant_tests(mutation.file))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        unchanged = threads.submit(run_tests, list(tests))
        table = pd.DataFrame(threads.map(try_out, chosen))
    print(table.to_string(index=False, justify="left"))
    print(table.result.value_counts().to_string(header=False))
    print("without a mistake:", *unchanged.result().values())
    return int((table.result != "killed").any() or unchanged.result()["result"] != "survived")


if __name__ == "__main__":
    sys.exit(main())
