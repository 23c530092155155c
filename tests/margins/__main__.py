"""Run lessons with several instruction sets and seeds, and store the margins of their claims.

    python -m tests.margins 05_positions              takes minutes; stored runs with the same code are not repeated
    python -m tests.margins --stored 05_positions     judge the claims again by the stored runs, without running cells

The runs are stored in ``build/margins``, and the margins next to the lesson's source, in ``notebooks/source/margins``.
A ``.toml`` file in that folder contains the sentences about a run, each with the number and the bound on which it
depends (``claims.Claim``).
"""

import argparse
import sys

from tests.margins.claims import claims, measure
from tests.margins.code import book
from tests.margins.runs import PLAN, make, stored
from tests.margins.stored import complaints, write


def main() -> int:
    """Measure the lessons named on the command line, and return 0 if all claims have a margin."""
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
        wrong = list(complaints(lesson, book(lesson), claims(lesson), measured))
        seconds = sum(result["seconds"] for result in results.values())
        print(f"{lesson}: {len(measured['margins'])} claims, {len(results)} runs, {seconds:.0f} CPU-seconds")
        print("".join(f"  {line}\n" for line in wrong), end="")
        failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
