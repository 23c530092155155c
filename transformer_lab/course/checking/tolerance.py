"""How far apart two results are, in tolerances: where numbers agree, and where observations do."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from transformer_lab.course.running.observation import Observation

ABSOLUTE, RELATIVE = 1e-5, 1e-4
"""Two numbers agree within ``ABSOLUTE + RELATIVE · |expected|``: room for another order of summation in float32."""


def distance(seen: object, right: object) -> float:
    """Return the largest distance between two pieces of plain data, in tolerances; infinity if they differ in kind."""
    if isinstance(right, Mapping):
        if not isinstance(seen, Mapping) or seen.keys() != right.keys():
            return math.inf
        return max((distance(seen[key], right[key]) for key in right), default=0.0)
    if isinstance(right, tuple | list):
        if not isinstance(seen, tuple | list) or len(seen) != len(right):
            return math.inf
        return max(map(distance, seen, right), default=0.0)
    if isinstance(right, Tensor):
        return _tensor_distance(seen, right) if isinstance(seen, Tensor) else math.inf
    if isinstance(seen, Tensor) and seen.dim() == 0 and isinstance(right, bool | int | float):
        seen = seen.item()  # a number in a tensor is a number
    if isinstance(right, float) and isinstance(seen, int | float) and type(seen) is not bool:
        return _tensor_distance(torch.tensor(float(seen)).double(), torch.tensor(right).double())
    return 0.0 if type(seen) is type(right) and seen == right else math.inf


def _tensor_distance(seen: Tensor, right: Tensor) -> float:
    if seen.shape != right.shape or seen.dtype != right.dtype:
        return math.inf
    if not right.is_floating_point():
        return 0.0 if torch.equal(seen, right) else math.inf
    a, b = seen.double(), right.double()
    equal = (a == b) | (a.isnan() & b.isnan())  # the only way in which infinities and nan agree
    apart = ((a - b).abs() / (ABSOLUTE + RELATIVE * b.abs())).nan_to_num(nan=math.inf, posinf=math.inf)
    return float(apart.masked_fill(equal, 0.0).max()) if apart.numel() else 0.0


def frequency_distance(seen: object, right: Tensor, n_samples: int) -> float:
    """Compare frequencies of samples: never against sometimes is a difference in kind, the rest is up to chance."""
    if not isinstance(seen, Tensor) or seen.shape != right.shape or seen.dtype != right.dtype:
        return math.inf
    if not torch.equal(seen > 0, right > 0):
        return math.inf
    deviation = (2 * right * (1 - right) / n_samples).sqrt()  # of the difference of two such frequencies
    return float(((seen - right).abs() / (5 * deviation + 1 / n_samples)).max())


def observation_distance(seen: Observation, right: Observation) -> float:
    """Return the largest distance between what two calls showed, remarks aside.

    Args:
        seen: What an attempt showed; it may come from an untrusted process and be malformed.
        right: What it is compared with.
    """
    if "error" in right and isinstance(error := seen.get("error"), Mapping):
        return distance(_comparable(error), _comparable(right["error"]))
    one: Mapping[str, object] = {key: value for key, value in seen.items() if key != "remarks"}
    other: Mapping[str, object] = {key: value for key, value in right.items() if key != "remarks"}
    frequencies, n_samples = other.get("frequencies"), other.get("n_samples")
    if one.keys() != other.keys() or not isinstance(frequencies, Tensor) or not isinstance(n_samples, int):
        return distance(one, other)
    rest = [{key: value for key, value in side.items() if key != "frequencies"} for side in (one, other)]
    return max(frequency_distance(one["frequencies"], frequencies, n_samples), distance(*rest))


def _comparable(error: Mapping[str, object]) -> dict[str, object]:
    """Return what tells crashes apart: not the line, which is the learner's own, nor whether it was a · b or b · a."""
    return {"type": error.get("type"), "message": sorted(str(error.get("message")).split())}


def within(tolerances: float, seen: Observation, right: Observation) -> bool:
    """Return whether two calls showed the same up to a number of tolerances.

    Outputs come first: they nearly always tell, and are a small part of what is observed.
    """
    if distance(seen.get("output"), right.get("output")) > tolerances:
        return False
    return observation_distance(seen, right) <= tolerances


def agree(observed: Sequence[Observation], expected: Sequence[Observation]) -> bool:
    """Return whether two runs over the same cases showed the same."""
    return len(observed) == len(expected) and all(
        within(1, seen, right) for seen, right in zip(observed, expected, strict=True)
    )
