"""Run lessons with several instruction sets and seeds, and store the margins of their claims.

    python -m tests.margins 05_positions              takes minutes; reuses stored runs if the code is unchanged
    python -m tests.margins --stored 05_positions     checks the claims against the stored runs, without running cells

The runs are stored in ``build/margins``, and the margins in ``notebooks/source/margins``. There, a ``.toml`` file for
each lesson lists the sentences that depend on training, each with its number and bound (see ``claims.Claim``).
"""

import argparse
import sys

from tests.margins.claims import claims, measure
from tests.margins.code import book
from tests.margins.runs import PLAN, make, stored
from tests.margins.stored import violations, write


def main() -> int:
    """Measure the lessons named on the command line, and return 0 if every claim has a sufficient margin."""
    parser = argparse.ArgumentParser(prog="python -m tests.margins", description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help="names of lessons, such as 05_positions")
    parser.add_argument(
        "--stored", action="store_true", help="check the claims against the stored runs, without running cells"
    )
    options = parser.parse_args()
    failed = False
    for lesson in options.lessons:
        if options.stored:
            results = {run: result for run in PLAN if (result := stored(lesson, run))}
        else:
            results = dict(make(lesson))
        measured = measure(lesson, {run: result["cells"] for run, result in results.items()})
        write(lesson, measured)
        wrong = list(violations(lesson, book(lesson), claims(lesson), measured))
        seconds = sum(result["seconds"] for result in results.values())
        print(f"{lesson}: {len(measured['margins'])} claims, {len(results)} runs, {seconds:.0f} CPU-seconds")
        print("".join(f"  {line}\n" for line in wrong), end="")
        failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
