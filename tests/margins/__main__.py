"""Run lessons under several sets of instructions and from several seeds, and store the margins of their claims.

    python -m tests.margins 05_positions              some minutes; a run that was made of the same code is not repeated
    python -m tests.margins --stored 05_positions     run nothing: judge claims anew by the runs there are

The runs lie in ``build/margins``; the margins beside the lesson's source, in ``notebooks/source/margins``. Sentences
about a run stand in a ``.toml`` file there, each with the number and the line on which it hangs (``claims.Claim``).
"""

import argparse
import sys

from tests.margins.claims import claims, measure
from tests.margins.code import book
from tests.margins.runs import PLAN, make, stored
from tests.margins.stored import complaints, write


def main() -> int:
    """Measure the lessons that are named; 0 if all claims have a margin."""
    parser = argparse.ArgumentParser(prog="python -m tests.margins", description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help="such as 05_positions")
    parser.add_argument("--stored", action="store_true", help="run nothing: judge claims by the runs there are")
    options = parser.parse_args()
    failed = False
    for lesson in options.lessons:
        if options.stored:
            found = {run: result for run in PLAN if (result := stored(lesson, run))}
        else:
            found = dict(make(lesson))
        measured = measure(lesson, {run: result["cells"] for run, result in found.items()})
        write(lesson, measured)
        wrong = list(complaints(lesson, book(lesson), claims(lesson), measured))
        seconds = sum(result["seconds"] for result in found.values())
        print(f"{lesson}: {len(measured['margins'])} claims, {len(found)} runs, {seconds:.0f} CPU-seconds")
        print("".join(f"  {line}\n" for line in wrong), end="")
        failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
