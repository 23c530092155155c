"""Draw reproducible inputs for cases. All sizes differ, so that swapped dimensions are detected."""

import torch
from torch import Tensor

from transformer_course.running.case import Case


def generator(seed: int) -> torch.Generator:
    """Return a random generator for one set of cases."""
    return torch.Generator().manual_seed(seed)


def digits(seed: int, *counts: int) -> list[int]:
    """Split a seed into independent numbers, each below its count. Seed 0, which the lessons use, gives only zeros.

    If an exercise has few possible results, sizes that depend on these numbers prevent guessing.
    """
    numbers = []
    for count in counts:
        seed, number = divmod(seed, count)
        numbers.append(number)
    return numbers


def normal(rng: torch.Generator, *shape: int) -> Tensor:
    """Draw standard normal numbers."""
    return torch.randn(*shape, generator=rng)


def uniform(rng: torch.Generator, low: float, high: float) -> float:
    """Draw a number between ``low`` and ``high``."""
    return low + (high - low) * float(torch.rand((), generator=rng))


def attention_cases(seed: int, width: int = 4, loud: float = 130.0, *, zeros: bool = True) -> list[Case]:
    """Draw queries, keys and values, from a single query to a batch.

    Args:
        seed: The random seed.
        width: Width of the keys in cases without a batch.
        loud: Magnitude of the entries in two queries whose exponentials overflow or underflow.
        zeros: Whether to include a case with an all-zero query.
    """
    rng = generator(seed)

    def case(leading: tuple[int, ...], n_query: int, n_key: int, d: int, d_v: int, shows: str) -> Case:
        inputs = {
            "queries": normal(rng, *leading, n_query, d),
            "keys": normal(rng, *leading, n_key, d),
            "values": normal(rng, *leading, n_key, d_v),
        }
        return Case(inputs, shows)

    cases = [
        case((), 1, 2, 4, 1, "one query, 2 keys of width 4, values of width 1"),
        case((), 3, 3, width, 2, f"3 queries, 3 keys of width {width}"),
        case((), 2, 3, width, 5, f"2 queries, 3 keys of width {width}, values of width 5"),
        case((7,), 5, 3, width, 2, f"a batch of 7: 5 queries, 3 keys of width {width}"),
        case((2, 3), 4, 5, 6, 7, "a batch of 2, 3 heads: 4 queries, 5 keys of width 6"),
        case((5,), 17, 29, 8, 11, "a batch of 5: 17 queries, 29 keys of width 8"),
    ]
    if zeros:
        zero = case((), 2, 3, 3, 1, "a query of zeros, and two keys that are equal")
        zero.inputs["queries"][0] = 0.0
        zero.inputs["keys"][1] = zero.inputs["keys"][2]
        cases.insert(3, zero)
    extreme = case((), 3, 4, 2, 1, "very large scores for one query, very small ones for another")
    extreme.inputs["keys"].abs_().add_(0.5)  # so that all scores of a query have the same sign
    extreme.inputs["queries"][0], extreme.inputs["queries"][1] = loud, -loud
    cases.insert(-3, extreme)
    return cases
