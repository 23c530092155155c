"""Put the mistakes people really make into the library's code, one at a time, and see which test notices.

    python -m tests.mutations            all of them, in a few minutes
    python -m tests.mutations 7 masks    only those of row 7, and those in masks.py

Each is put into a copy of the package in a temporary folder, where the tests that mirror the edited module are run
until the first fails, each time in a process of its own. It prints what was killed by which test and what survived,
and fails if something survives for which no reason is known.
"""

import multiprocessing
import os
import sys

import pandas as pd

from tests.mutations import MUTATIONS
from tests.mutations.run_trial import run_tests, tests_of, try_out

LOADED_ONCE = ["pandas", "pytest", "torch", "torch.testing"]  # not what pytest rewrites: its plugins


def main(wanted: list[str]) -> int:
    """Try out the mistakes of these rows and in these modules, or all; give the exit status."""
    chosen = [(module, m) for module, m in MUTATIONS if not wanted or module in wanted or str(m.row) in wanted]
    tests = list(dict.fromkeys(test for module, _ in chosen for test in tests_of(module)))
    os.environ["OMP_NUM_THREADS"] = "1"
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    context.set_forkserver_preload(LOADED_ONCE)
    with context.Pool(maxtasksperchild=1) as pool:
        status, failed = pool.apply(run_tests, (tests, {}))
        if status:
            print(f"without any mistake, pytest ends with {status}: {failed}")
            return 1
        table = pd.DataFrame(pool.starmap(try_out, chosen, chunksize=1)).sort_values("row", kind="stable")
    print(table.to_string(index=False, justify="left"))
    print(table.result.value_counts().to_string(header=False))
    return int(((table.result != "killed") & (table["by or why"] == "")).any())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
