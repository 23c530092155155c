"""Train and verify an entry of the speed run: ``python -m benchmarks.speed_run benchmarks.speed_run.gpt``."""

import argparse
import platform
import sys
from importlib import import_module

import torch

from benchmarks.speed_run.verify import TRAINING_BUDGET_S, verify
from transformer_lab.data.docstrings import python_docstrings


def main() -> int:
    """Run an entry; return 1 if it breaks a rule."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed_run", description=__doc__)
    parser.add_argument("entry", metavar="MODULE", help="the entry's module, such as benchmarks.speed_run.gpt")
    parser.add_argument(
        "--seconds",
        type=float,
        default=TRAINING_BUDGET_S,
        help="training budget in seconds of CPU time (default 120); to try out an entry, pass a smaller number",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    try:
        result = verify(import_module(options.entry), *python_docstrings(), options.seconds)
    except ValueError as broken:
        print(f"{options.entry} violates a rule: {broken}")
        return 1
    versions = f"Python {platform.python_version()}, torch {torch.__version__.split('+')[0]}"
    print(f"{options.entry}: {result.bits_per_byte:.3f} bits per byte after {result.seconds:.0f} s of CPU time")
    print(versions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
