"""Put the mistakes people really make into the library's code, one at a time, and see which test notices.

    python -m tests.mutations               all of them, in a few minutes
    python -m tests.mutations 7 masks text  only those of row 7 of docs/mistakes.md, in masks.py, or in text/
    python -m tests.mutations --show 7      only show what they change

Each is put into a copy of the package in a temporary folder, where the tests that mirror the edited module are run
until the first fails, each time in a process of its own. It prints what was killed by which test and what survived,
and fails if something survives.
"""

import argparse
import multiprocessing
import os
import sys

import pandas as pd

from tests.mutations import MUTATIONS, difference
from tests.mutations.mutation import Mutation
from tests.mutations.run_trial import relevant_tests, run_tests, try_out

LOADED_ONCE = ["pandas", "pytest", "torch", "torch.testing"]  # not what pytest rewrites: its plugins


def main() -> int:
    """Try out the chosen mistakes, or all; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description="Try out mistakes on the tests.")
    parser.add_argument("wanted", nargs="*", help="rows of docs/mistakes.md, modules or folders; all if none is named")
    parser.add_argument("--show", action="store_true", help="only show what is changed in the code")
    options = parser.parse_args()
    chosen = [
        (module, mutation)
        for module, mutation in MUTATIONS
        if not options.wanted or {module, *module.split("/"), str(mutation.row)} & set(options.wanted)
    ]
    if not chosen:
        parser.error(f"no mistake has the row, module or folder {' or '.join(options.wanted)}")
    if options.show:
        for module, mutation in chosen:
            print(
                f"row {mutation.row}, {module}: {mutation.mistake}", difference(module, mutation), sep="\n", end="\n\n"
            )
        return 0
    return try_all(chosen)


def try_all(chosen: list[tuple[str, Mutation]]) -> int:
    tests = list(dict.fromkeys(test for module, _ in chosen for test in relevant_tests(module)))
    os.environ["OMP_NUM_THREADS"] = "1"
    forks = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if forks else "spawn")
    context.set_forkserver_preload(LOADED_ONCE)
    with context.Pool(maxtasksperchild=1) as pool:
        status, failed, _ = pool.apply(run_tests, (tests, {}))
        if status:
            print(f"without any mistake, pytest ends with {status}: {failed}")
            return 1
        table = pd.DataFrame(pool.starmap(try_out, chosen, chunksize=1)).sort_values("row", kind="stable")
    print(table.to_string(index=False, justify="left"))
    print(table.result.value_counts().to_string(header=False))
    return int((table.result != "killed").any())


if __name__ == "__main__":
    sys.exit(main())
