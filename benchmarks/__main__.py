"""Compare the speed of our models with other libraries and with the matrix products alone.

Run ``python -m benchmarks``; README.md explains the table.
"""

import argparse
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from benchmarks.clock import Run, median_ratio, take_turns
from benchmarks.contestant import Contestant
from benchmarks.equal_work import check_equal_work
from benchmarks.products import Products
from benchmarks.report import OURS, draw, machine, markdown, table, write_json
from benchmarks.work import README_ROWS, Work, all_work

CONTESTANTS = {
    "ours": ("Ours", "OurLanguageModel", "OurLlama"),
    "plain_peer": ("PlainPeer",),
    "plain_language_peer": ("PlainLanguagePeer",),
    "torch_transformer": ("TorchTransformer",),
    "hugging_face": ("Marian", "GPT2", "Llama", "GeneratingLlama"),
}
DEFAULT_ROWS = ["train tiny 32×24 dropout 0.1", "train small 32×24 dropout 0.1", "train LM tiny 32×24 dropout 0.1"]


def find_contestants() -> list[type[Contestant]]:
    """Return the classes of all contestants, starting with our library."""
    return [
        getattr(import_module(f"benchmarks.{module}"), name) for module, names in CONTESTANTS.items() for name in names
    ]


def measure(work: Work, kinds: list[type[Contestant]], rounds: int) -> dict[str, Any]:
    """Check that the contestants do the same work, and time them in turns."""
    batch = work.draw()
    contestants = []
    for kind in kinds:
        if work.task in kind.tasks:
            torch.manual_seed(0)
            contestants.append(kind(work))
    for line in check_equal_work(contestants, work, batch):
        print(f"  {line}")
    runs: dict[str, Run] = {contestant.name: contestant.run(work, batch) for contestant in contestants}
    if not work.generates:
        products = Products(work, batch)
        runs[products.name] = products.run()
    times = take_turns(runs, rounds)
    return {
        "work": work.name,
        "over ours": {name: median_ratio(times, name, OURS) for name in runs},
        "seconds": {name: [turn[name] for turn in times] for name in runs},
    }


def select_rows(patterns: list[str]) -> Iterator[Work]:
    """Yield the rows whose name equals one of the patterns or starts with it.

    Raises:
        SystemExit: No row matches.
    """
    everything = list(all_work())
    names = {work.name for work in everything}
    prefixes = tuple(f"{pattern} " for pattern in patterns if pattern not in names)
    rows = [work for work in everything if work.name in patterns or f"{work.name} ".startswith(prefixes)]
    if not rows:
        raise SystemExit("no row matches; --list prints all row names")
    yield from rows


def main() -> None:
    """Run the benchmarks, print the table, and write the results to a folder if requested."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rows",
        nargs="+",
        default=DEFAULT_ROWS,
        help="measure the rows whose names start with these prefixes, such as 'train tiny'",
    )
    parser.add_argument("--readme", action="store_true", help="run the benchmarks that are listed in README.md")
    parser.add_argument("--list", action="store_true", help="print all row names")
    parser.add_argument(
        "--rounds", type=int, default=7, help="number of timed runs per library in each row (default 7)"
    )
    parser.add_argument("--threads", type=int, default=1, help="number of torch threads (default 1)")
    parser.add_argument("--out", type=Path, help="write results.json, results.md and results.svg to this folder")
    options = parser.parse_args()
    if options.list:
        print("\n".join(work.name for work in all_work()))
        return
    torch.set_num_threads(options.threads)
    about = machine(options.threads, options.rounds)
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    kinds, rows = find_contestants(), []
    for work in select_rows(README_ROWS if options.readme else options.rows):
        print(work.name, flush=True)
        rows.append(measure(work, kinds, options.rounds))
        if options.out:  # save after each row so that a long run can be interrupted
            options.out.mkdir(parents=True, exist_ok=True)
            write_json(options.out / "results.json", rows, about)
            (options.out / "results.md").write_text(markdown(rows), encoding="utf-8")
            draw(options.out / "results.svg", rows, about)
    print(f"\nOur milliseconds, and each contestant's time divided by ours (less than 1 is faster).\n{table(rows)}")


if __name__ == "__main__":
    main()
