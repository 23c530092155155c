"""Print the results of reading corrupted files: ``python -m tests.fuzz [--inputs N] [--seed SEED] [--json] [READER
...]``.
"""

import argparse
import json
import sys
from collections import Counter

import torch

from tests.fuzz.campaign import GOOD, campaign
from tests.fuzz.course_readers import COURSE_READERS
from tests.fuzz.readers import READERS


def main() -> None:
    """Corrupt the files of the given readers, or of all readers."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("readers", nargs="*", metavar="READER", help="part of a reader's name; default: all of them")
    parser.add_argument("--inputs", type=int, default=20, metavar="N", help="damaged files of each reader")
    parser.add_argument("--seed", type=int, default=0, help="seed of the damage")
    parser.add_argument("--json", action="store_true", help="print the outcomes of each reader as JSON")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for name, reader in (READERS | COURSE_READERS).items():
        if not args.readers or any(part in name for part in args.readers):
            outcomes = list(campaign(reader, name, args.inputs, args.seed))
            counts = Counter(outcome.what for outcome in outcomes)
            bad = sorted({f"{what}: {message}" for what, message in outcomes if what not in GOOD})
            if args.json:
                print(json.dumps({"reader": name, "counts": counts, "bad": bad}), flush=True)
            else:
                print(f"{name}: {dict(counts)}", *bad, sep="\n    ", flush=True)


if __name__ == "__main__":
    sys.exit(main())
