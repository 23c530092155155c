"""Measure the distance between two results in units of the tolerance."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_course.running.observation import Observation

ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE = 1e-5, 1e-4
"""Two numbers in tensors agree if they differ by at most ``ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE · |expected|``,
which allows for a different order of summation in float32. For plain numbers, which may be tiny, both tolerances are
relative.
"""
GRADIENT_TOLERANCE = 1e-3
"""Tolerance for gradients, relative to the largest number in a gradient, because each number of a gradient is a sum
over many paths."""
MAX_EPSILONS = 4
"""Numbers may differ by this many machine epsilons of their dtype. For float16, this exceeds the tolerances above."""
GRADIENTS = ("gradients", "parameter_gradients")
"""Fields of observations that contain gradients."""
SIDE_EFFECTS = (*GRADIENTS, "changed")
"""Fields judged separately from the outputs, because both correct answers and known mistakes may have side effects."""
FIELDS = (
    *("error", "parameters", "repeatable", "output", "overwritten", "own_parameters", "frozen"),
    *("output_in_training", "later", "later_in_training"),
    *("frequencies", "used_global_generator", "varies_with_seed"),
)
"""Fields of observations in the order in which differences are explained, causes before effects."""
TENSORS_PER_COMPARISON, MAX_NUMBERS_PER_COMPARISON = 200, 500
"""Up to this many tensors with up to this many numbers each are compared in one batch, which takes no longer than
comparing one tensor.
"""
_DOES_NOT_FILL = re.compile(
    r"shape '\[.*\]' is invalid for input of size|unflatten: Provided sizes .* don't multiply up"
)


def distance(observation: object, right: object) -> float:
    """Return the largest distance between two plain values, in tolerances, or infinity if their types differ."""
    if isinstance(right, Mapping):
        if not isinstance(observation, Mapping) or observation.keys() != right.keys():
            return math.inf
        return max((distance(observation[key], right[key]) for key in right), default=0.0)
    if isinstance(right, tuple | list):
        if not isinstance(observation, tuple | list) or len(observation) != len(right):
            return math.inf
        return max(map(distance, observation, right), default=0.0)
    if isinstance(right, Tensor):
        return _tensor_distance(observation, right) if isinstance(observation, Tensor) else math.inf
    if isinstance(observation, Tensor) and observation.dim() == 0 and isinstance(right, bool | int | float):
        observation = observation.item()  # a zero-dimensional tensor counts as a number
    if isinstance(right, float) and isinstance(observation, int | float) and type(observation) is not bool:
        return _number_distance(float(observation), right)
    return 0.0 if type(observation) is type(right) and observation == right else math.inf


def _number_distance(observation: float, right: float) -> float:
    """Return the relative distance between two plain numbers, so that a learning rate of 1e-6 does not equal 0."""
    if observation == right or (math.isnan(observation) and math.isnan(right)):
        return 0.0
    apart = abs(observation - right) / ((ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE) * abs(right) or ABSOLUTE_TOLERANCE)
    return math.inf if math.isnan(apart) else apart


def _tensor_distance(observation: Tensor, right: Tensor) -> float:
    if _is_equal(observation, right):  # ten times as fast as the code below, and true for most correct answers
        return 0.0
    if observation.shape != right.shape or observation.dtype != right.dtype or not right.is_floating_point():
        return math.inf
    return float(_distances(observation, right.unsqueeze(0)))


def _distances(observation: Tensor, rights: Tensor) -> Tensor:
    """Return the distances between a tensor of floats and each tensor in a stack with the same shape and dtype."""
    a, b = observation.double(), rights.double()
    relative = max(RELATIVE_TOLERANCE, MAX_EPSILONS * torch.finfo(rights.dtype).eps)
    apart = (a - b).abs() / (ABSOLUTE_TOLERANCE + relative * b.abs())
    largest = apart.reshape(len(rights), -1).amax(1)
    if not largest.isnan().any():
        return largest
    equal = (a == b) | (a.isnan() & b.isnan())  # the only entries in which infinities and nan agree
    return apart.nan_to_num(nan=math.inf, posinf=math.inf).masked_fill(equal, 0.0).reshape(len(rights), -1).amax(1)


def _is_equal(a: Tensor, b: Tensor) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(a, b)


def frequency_distance(observation: object, right: Tensor, n_samples: int) -> float:
    """Return the distance between two sets of sample frequencies, or infinity if only one set lacks a token."""
    if not isinstance(observation, Tensor) or observation.shape != right.shape or observation.dtype != right.dtype:
        return math.inf
    if not torch.equal(observation > 0, right > 0):
        return math.inf
    deviation = (
        2 * right * (1 - right) / n_samples
    ).sqrt()  # standard deviation of the difference between two frequencies
    return float(((observation - right).abs() / (6 * deviation + 1 / n_samples)).max())


def observation_distance(observation: Observation, right: Observation, *, numbers_only: bool = False) -> float:
    """Return the largest distance between the observations of two calls, ignoring remarks.

    Args:
        observation: Observations of an attempt, possibly malformed because they come from an untrusted process.
        right: The observations to compare with.
        numbers_only: Whether to ignore gradients and changed arguments.
    """
    if "error" in right and isinstance(error := observation.get("error"), Mapping):
        return distance(comparable_error(error), comparable_error(right["error"]))
    one = {key: value for key, value in observation.items() if key not in ("remarks", *SIDE_EFFECTS)}
    other = {key: value for key, value in right.items() if key not in ("remarks", *SIDE_EFFECTS)}
    frequencies, n_samples = other.get("frequencies"), other.get("n_samples")
    if one.keys() == other.keys() and isinstance(frequencies, Tensor) and isinstance(n_samples, int):
        rest = [{key: value for key, value in side.items() if key != "frequencies"} for side in (one, other)]
        apart = max(frequency_distance(one["frequencies"], frequencies, n_samples), distance(*rest))
    else:
        apart = distance(one, other)
    if numbers_only:
        return apart
    return max(apart, distance(observation.get("changed"), right.get("changed")), gradient_distance(observation, right))


class Difference(NamedTuple):
    """The field in which two observations differ, and the path of indices and keys to the difference within it."""

    field: str
    path: tuple[int | str, ...] = ()


def differences(observation: Observation, right: Observation) -> list[Difference]:
    """List the differences between two observations, ignoring remarks and side effects.

    Args:
        observation: Observations of an attempt, possibly malformed because they come from an untrusted process.
        right: The observations to compare with.
    """
    if "error" in right and isinstance(error := observation.get("error"), Mapping):
        return [] if comparable_error(error) == comparable_error(right["error"]) else [Difference("error")]
    fields = [field for field in FIELDS if field in observation or field in right]
    fields += [field for field in {**observation, **right} if field not in (*FIELDS, "remarks", *SIDE_EFFECTS)]
    return [Difference(field, path) for field in fields if (path := _path_in(field, observation, right)) is not None]


def _path_in(field: str, observation: Observation, right: Observation) -> tuple[int | str, ...] | None:
    """Return the path to the difference in a field, or None if there is no difference."""
    if field not in observation or field not in right:
        return ()
    one: object = dict(observation)[field]
    other: object = dict(right)[field]
    if field == "frequencies" and isinstance(other, Tensor) and isinstance(n := right.get("n_samples"), int):
        return () if frequency_distance(one, other, n) > 1 else None
    return path_to_difference(one, other) if distance(one, other) > 1 else None


def path_to_difference(observation: object, right: object) -> tuple[int | str, ...]:
    """Return the path of indices and keys to the first difference between two pieces of plain data."""
    pairs: dict[int | str, tuple[object, object]] = {}
    if isinstance(observation, tuple | list) and isinstance(right, tuple | list) and len(observation) == len(right):
        pairs = dict(enumerate(zip(observation, right, strict=True)))
    elif isinstance(observation, Mapping) and isinstance(right, Mapping) and observation.keys() == right.keys():
        pairs = {key: (observation[key], right[key]) for key in right}
    for step, pair in pairs.items():
        if distance(*pair) > 1:
            return step, *path_to_difference(*pair)
    return ()


def gradient_distance(observation: Observation, right: Observation) -> float:
    """Return the largest distance between the gradients of two calls, in tolerances.

    A missing gradient counts as 0. Gradients are not compared if the expected output is not finite or a plain number.
    """
    if not is_finite(right.get("output")) or isinstance(right.get("output"), float):
        return 0.0
    largest = 0.0
    for kind in GRADIENTS:
        expected, found = right.get(kind), observation.get(kind)
        for name, gradient in expected.items() if isinstance(expected, Mapping) else ():
            observed = found.get(name) if isinstance(found, Mapping) else None
            largest = max(largest, single_gradient_distance(observed, gradient))
    return largest


def single_gradient_distance(observation: object, right: object) -> float:
    """Return the distance between two gradients, in tolerances relative to the expected gradient's largest number."""
    if observation is None and right is None:
        return 0.0
    if isinstance(observation, Tensor) and isinstance(right, Tensor) and _is_equal(observation, right):
        return 0.0
    if isinstance(observation, Tensor) and right is None:
        right = torch.zeros_like(observation)
    if not isinstance(right, Tensor) or not right.isfinite().all():
        return 0.0
    if observation is None:
        observation = torch.zeros_like(right)
    if not isinstance(observation, Tensor) or observation.shape != right.shape or not observation.is_floating_point():
        return math.inf
    if not right.numel() or (not right.any() and not observation.isfinite().all()):
        return 0.0  # if the output saturates, equivalent formulas may have gradients of 0 or nan
    relative = max(GRADIENT_TOLERANCE, MAX_EPSILONS * torch.finfo(right.dtype).eps)
    allowed = ABSOLUTE_TOLERANCE + relative * float(right.abs().max())
    return float(((observation.double() - right.double()).abs() / allowed).nan_to_num(nan=math.inf).max())


def is_finite(value: object) -> bool:
    """Return whether all numbers in plain data are finite."""
    if isinstance(value, Tensor):
        return not value.is_floating_point() or bool(value.isfinite().all())
    if isinstance(value, Mapping):
        value = list(value.values())
    return all(map(is_finite, value)) if isinstance(value, list | tuple) else True


def comparable_error(error: Mapping[str, object]) -> dict[str, object]:
    """Return the parts of a crash that are compared: the type and the words of the message, in any order.

    The order is ignored because it may depend on the order of factors. Errors of ``unflatten``, ``view`` and
    ``reshape`` count as equal.
    """
    message = str(error.get("message"))
    words = ["does not fill the shape"] if _DOES_NOT_FILL.match(message) else sorted(message.split())
    return {"type": error.get("type"), "message": words}


def within(tolerances: float, observation: Observation, right: Observation, *, numbers_only: bool = False) -> bool:
    """Return whether two observations agree within a number of tolerances.

    Outputs are compared first, because they are a small part of an observation and usually differ if anything does.
    """
    if distance(observation.get("output"), right.get("output")) > tolerances:
        return False
    return observation_distance(observation, right, numbers_only=numbers_only) <= tolerances


def agree(
    observed: Sequence[Observation],
    expected: Sequence[Observation],
    tolerances: float = 1,
    *,
    numbers_only: bool = False,
) -> bool:
    """Return whether two runs over the same cases agree within a number of tolerances."""
    return len(observed) == len(expected) and all(
        within(tolerances, observation, right, numbers_only=numbers_only)
        for observation, right in zip(observed, expected, strict=True)
    )


def may_show(
    first_call: Observation, observation: Observation, tolerances: float = 1.0, *, crashed_later: bool = False
) -> bool:
    """Return whether an answer with this first call may have produced a full observation, within some tolerances.

    If the first call returned an output but the observation is a crash, which may have happened in a later call, return
    ``crashed_later``.
    """
    if "frequencies" in first_call:
        return (
            frequency_distance(observation.get("frequencies"), first_call["frequencies"], first_call["n_samples"]) <= 1
        )
    if "output" in first_call:
        return (
            distance(observation["output"], first_call["output"]) <= tolerances
            if "output" in observation
            else crashed_later and "error" in observation
        )
    if "error" in first_call:
        error = observation.get("error")
        return isinstance(error, Mapping) and comparable_error(error) == comparable_error(first_call["error"])
    return observation.get("parameters") == first_call.get("parameters")


def which_may_show(
    first_calls: Iterable[Observation],
    observation: Observation,
    tolerances: float = 1.0,
    *,
    crashed_later: bool = False,
) -> Iterator[bool]:
    """Yield the result of ``may_show`` for each of many answers. Small tensors are compared in batches."""
    calls = iter(first_calls)
    while batch := list(itertools.islice(calls, TENSORS_PER_COMPARISON)):
        distances = _small_distances(observation.get("output"), batch)
        for index, first_call in enumerate(batch):
            if index in distances:
                yield distances[index] <= tolerances
            else:
                yield may_show(first_call, observation, tolerances, crashed_later=crashed_later)


def _small_distances(output: object, first_calls: Sequence[Observation]) -> dict[int, float]:
    """Return the distances for the first calls that returned a tensor with the same shape and dtype, keyed by index.

    If the output is not a small tensor of floats, no distances are computed.
    """
    if (
        not isinstance(output, Tensor)
        or not output.is_floating_point()
        or not 0 < output.numel() <= MAX_NUMBERS_PER_COMPARISON
    ):
        return {}
    tensors: dict[int, Tensor] = {}
    for index, first_call in enumerate(first_calls):
        value = first_call.get("output")
        if not isinstance(value, Tensor) or "frequencies" in first_call:
            continue
        if value.shape == output.shape and value.dtype == output.dtype:
            tensors[index] = value
    distances = _distances(output, torch.stack([*tensors.values()])).tolist() if tensors else []
    return dict(zip(tensors, distances, strict=True))
