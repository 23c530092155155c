"""Compare the speed of the library's attention with torch's and with the plain formula.

Run ``python -m benchmarks.attention``; README.md explains the table.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median

import pandas as pd
import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.clock import median_ratio, take_turns
from transformer_lab.attention.dot_product import attend, scaled_dot_product_attention
from transformer_lab.attention.grouped_query import repeat_kv
from transformer_lab.attention.masks import causal_mask

SHAPES = [(32, 4, 32, 32), (8, 8, 128, 64), (2, 8, 512, 64), (1, 4, 2048, 64)]
"""Batch size, number of heads, length, and width of a head."""
MEMORY_LENGTHS = [1024, 2048, 4096]
CACHED_KEYS = 2048
"""Number of keys that a new token attends to in the table for shared heads."""


def ours_with_weights(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Return the output of our attention function that also computes the weights."""
    return scaled_dot_product_attention(q, k, v, mask)[0]


def formula(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Compute equation 1 of the paper in the usual way. A fully masked row would produce NaN."""
    scores = q @ k.mT / k.shape[-1] ** 0.5
    return torch.softmax(scores if mask is None else scores.masked_fill(~mask, -torch.inf), dim=-1) @ v


def torch_sdpa(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    """Call the torch function that ``attend`` wraps."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


RATIOS = {
    "with weights / formula": (ours_with_weights, formula),
    "attend / F.sdpa": (attend, torch_sdpa),
    "attend / with weights": (attend, ours_with_weights),
}
"""The columns of the table: the first contestant's time divided by the second contestant's time."""
CONTESTANTS = [ours_with_weights, formula, attend, torch_sdpa]


def case(
    attention: Callable[..., Tensor], inputs: tuple[Tensor, ...], mask: Tensor | None, backward: bool
) -> Callable[[], Tensor]:
    """Return the function to time: a forward pass, optionally followed by a backward pass to all inputs."""

    def forward() -> Tensor:
        return attention(*inputs, mask)

    def forward_and_backward() -> Tensor:
        output = forward()
        torch.autograd.grad(output.sum(), inputs)
        return output

    return forward_and_backward if backward else forward


def rows(rounds: int) -> Iterator[dict[str, object]]:
    """Time all contestants in turns for each case, and yield the medians."""
    for shape, masked, backward in product(SHAPES, [False, True], [False, True]):
        inputs = tuple(torch.randn(3, *shape).requires_grad_(backward).unbind())
        mask = causal_mask(shape[-2]) if masked else None
        runs = {contestant: case(contestant, inputs, mask, backward) for contestant in CONTESTANTS}
        for run in runs.values():  # warm up, and check that all contestants return the same values
            torch.testing.assert_close(run(), runs[formula]())
        times = take_turns(runs, rounds)
        yield {
            "batch, heads, length, width": " × ".join(map(str, shape)),
            "mask": "causal" if masked else "none",
            "pass": "forward + backward" if backward else "forward",
            "F.sdpa, ms": 1000 * median(turn[torch_sdpa] for turn in times),
        } | {name: median_ratio(times, ours, peer) for name, (ours, peer) in RATIOS.items()}


@torch.no_grad()
def shared_head_rows(rounds: int) -> Iterator[dict[str, object]]:
    """Time attention from a new token to cached keys for decreasing numbers of key/value heads; yield the medians."""
    batch, n_heads, d_k = 1, 16, 64
    q = torch.randn(batch, n_heads, 1, d_k)
    caches = {n_kv_heads: torch.randn(2, batch, n_kv_heads, CACHED_KEYS, d_k) for n_kv_heads in (n_heads, 4, 1)}
    runs = {(n, attend): partial(attend, q, *kv) for n, kv in caches.items()}
    runs |= {(n, copied): partial(copied, q, *kv) for n, kv in caches.items()}
    for (n, _), run in runs.items():  # warm up, and check that both contestants return the same values
        torch.testing.assert_close(run(), runs[n, copied]())
    times = take_turns(runs, rounds)
    for n in caches:
        yield {
            "query heads": n_heads,
            "heads of keys": n,
            "ms": 1000 * median(turn[n, attend] for turn in times),
            "shared / own heads": median_ratio(times, (n, attend), (n_heads, attend)),
            "shared / copied": median_ratio(times, (n, attend), (n, copied)),
        }


def copied(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Copy the keys and values for every query head in their group before attending."""
    n_repeats = q.shape[1] // k.shape[1]
    return attend(q, repeat_kv(k, n_repeats), repeat_kv(v, n_repeats))


def memory_rows() -> Iterator[dict[str, object]]:
    """Yield the peak memory of a forward and a backward pass, in addition to the inputs and their gradients."""
    for length in MEMORY_LENGTHS:
        inputs = tuple(torch.randn(3, 1, 8, length, 64).requires_grad_().unbind())
        mask = causal_mask(length)
        peak = {attention: peak_memory(case(attention, inputs, mask, backward=True)) for attention in CONTESTANTS}
        yield {
            "length": length,
            "formula, MB": peak[formula] / 1e6,
            "with weights / formula": peak[ours_with_weights] / peak[formula],
            "attend / formula": peak[attend] / peak[formula],
            "F.sdpa / formula": peak[torch_sdpa] / peak[formula],
        }


def peak_memory(run: Callable[[], object]) -> int:
    """Return the peak growth of the process in bytes while a function runs (Linux only)."""
    process = Path("/proc/self")
    (process / "clear_refs").write_text("5")  # resets the peak

    def read_bytes(field: str) -> int:
        return 1024 * int(re.search(rf"{field}:\s+(\d+) kB", (process / "status").read_text())[1])

    before = read_bytes("VmRSS")
    run()
    return read_bytes("VmHWM") - before


def table(rows: Iterator[dict[str, object]]) -> str:
    """Format rows for the terminal."""
    return pd.DataFrame(rows).to_string(index=False, float_format="{:.2f}".format)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rounds", type=int, default=30, help="number of timed runs per implementation in each case (default 30)"
    )
    parser.add_argument("--threads", type=int, default=1, help="number of torch threads (default 1)")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, CPU, {options.threads} thread(s), float32, medians of {options.rounds} rounds")
    print(table(rows(options.rounds)))
    print(f"\nA new token that attends to {CACHED_KEYS} cached keys:")
    print(table(shared_head_rows(options.rounds)))
    if Path("/proc/self/clear_refs").exists():
        print("\nPeak memory of a forward and a backward pass with 8 heads of width 64 and a causal mask:")
        print(table(memory_rows()))


if __name__ == "__main__":
    main()
