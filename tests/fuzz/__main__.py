"""Corrupt files, read them, and print the outcomes."""

import argparse
import json
import sys
from collections import Counter

import torch

from tests.fuzz.campaign import ACCEPTABLE, campaign
from tests.fuzz.course_readers import COURSE_READERS
from tests.fuzz.readers import READERS


def main() -> None:
    """Run the selected readers, by default all of them, on corrupted files."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "readers", nargs="*", metavar="READER", help="run readers whose name contains this text (default: all)"
    )
    parser.add_argument("--inputs", type=int, default=20, metavar="N", help="number of corrupted files per reader")
    parser.add_argument("--seed", type=int, default=0, help="random seed for the corruption")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON, with one line per reader")
    args = parser.parse_args()
    torch.set_num_threads(1)
    for name, reader in (READERS | COURSE_READERS).items():
        if not args.readers or any(part in name for part in args.readers):
            outcomes = list(campaign(reader, name, args.inputs, args.seed))
            counts = Counter(outcome.kind for outcome in outcomes)
            bad = sorted({f"{kind}: {message}" for kind, message in outcomes if kind not in ACCEPTABLE})
            if args.json:
                print(json.dumps({"reader": name, "counts": counts, "bad": bad}), flush=True)
            else:
                print(f"{name}: {dict(counts)}", *bad, sep="\n    ", flush=True)


if __name__ == "__main__":
    sys.exit(main())
