"""Draw inputs for cases: reproducible, and of sizes that all differ, so that a swapped axis cannot hide."""

import torch
from torch import Tensor

from transformer_course.running.case import Case


def generator(seed: int) -> torch.Generator:
    """Make the source of randomness of one set of cases."""
    return torch.Generator().manual_seed(seed)


def digits(seed: int, *counts: int) -> list[int]:
    """Split a seed into independent numbers, each below its count; all are 0 for seed 0, which the lessons use.

    If an exercise has few possible results, sizes that vary with them make a guess of all of them hopeless.
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
    """Draw one number between two."""
    return low + (high - low) * float(torch.rand((), generator=rng))


def attention_cases(seed: int, width: int = 4, loud: float = 130.0, *, zeros: bool = True) -> list[Case]:
    """Draw queries, keys and values from a single query to a batch.

    Args:
        seed: That of the random numbers.
        width: The width of the keys where there is no batch.
        loud: The size of the entries of two queries that make exponentials overflow or vanish.
        zeros: Whether a query of zeros is among them.
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
    extreme.inputs["keys"].abs_().add_(0.5)  # so that all the scores of a query have the same sign
    extreme.inputs["queries"][0], extreme.inputs["queries"][1] = loud, -loud
    cases.insert(-3, extreme)
    return cases
