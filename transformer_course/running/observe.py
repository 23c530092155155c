"""Derive an observation from a record: changed arguments, repeatability and token frequencies.

For submissions, records come from the sandbox and are untrusted, and this module runs on the trusted side. In a lesson,
the attempt and this module run in the same process.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from transformer_course.running import stand_in_models
from transformer_course.running.case import Case
from transformer_course.running.observation import Observation, Record, SamplerObservation
from transformer_course.running.plain_data import same, to_plain_data
from transformer_course.running.record import call_inputs, parameters_after_step, record, record_all, seeded

KEPT = (
    "error", "output", "gradients", "parameters", "parameter_gradients", "frozen", "output_in_training", "later",
    "later_in_training", "remarks",
)  # fmt: skip
"""Fields that an observation copies from the record."""
MIN_PROBABILITY = 1e-9
"""Two draws are not random if the probability that they are so similar is smaller than this."""


def observe(attempt: Any, case: Case) -> Observation:
    """Call an attempt, which may be any object, on a case and return the observation.

    Every exception becomes an observation, except ``TookTooLong`` and ``KeyboardInterrupt``.
    """
    return observation_of(record(attempt, case), case)


def observe_all(
    attempt: Any, cases: list[Case], seconds: float, clock: float | None = None, max_idle: float = math.inf
) -> list[Observation]:
    """Call an attempt on the cases as ``record_all`` does and return the observations."""
    return observations_of(record_all(attempt, cases, seconds, clock, max_idle), cases)


def observations_of(records: Sequence[Record], cases: Sequence[Case]) -> list[Observation]:
    """Return the observations from the records of some cases. There may be fewer records than cases."""
    return [observation_of(observed, case) for observed, case in zip(records, cases, strict=False)]


def observation_of(observed: Record, case: Case) -> Observation:
    """Return the observation from a record.

    Raises:
        Exception: The record is malformed. An untrusted process may send any plain data, so any exception is possible.
    """
    kept = {key: observed[key] for key in KEPT if key in observed}
    if "error" in observed or case.kind == "once" or ("parameters" in observed and "output" not in observed):
        return cast(Observation, kept)
    if case.kind == "sampler":
        return _of_sampler(observed, case)
    kept["changed"] = _changed({**case.inputs, **case.keywords}, observed["left"])
    # The tolerance is needed because torch uses different kernels if gradients are required.
    kept["repeatable"] = same(observed["again"], observed["output"], tolerance=1e-4)
    before, after = observed["versions"]
    if before != after:
        kept["overwritten"] = True
    if "trained" in observed:
        kept["own_parameters"] = _count_trained(case, observed["trained"])
    if too_large := [name for name, limit in case.max_numbers.items() if observed["largest"][name] > limit]:
        kept["too_large"] = too_large
    return cast(Observation, kept)


def _changed(given: Mapping[str, Any], left: Mapping[str, Any]) -> list[str]:
    """List the arguments that a call modified. For a model, list changed tables and, for its mode, ``training``.

    A model that the call should train is not listed.
    """
    changed = []
    for name, before in given.items():
        if not stand_in_models.is_description(before):
            changed += [] if same(left[name], to_plain_data(before)) else [name]
            continue
        if stand_in_models.is_trained(before):
            continue
        was, now = stand_in_models.state_of(stand_in_models.build_model(before)), left[name]
        if stand_in_models.is_only_called(before):  # the sandbox does not have the model's tables
            was = {part: value for part, value in was.items() if part in now}
        changed += [f"{name}.{part}" for part in was if part not in now or not same(now[part], was[part])]
    return changed


def _count_trained(case: Case, trained: Sequence[Any]) -> int:
    """Count the parameters of the case's models that changed in the gradient step."""
    before: list[Any] = []
    after: list[Any] = []
    for value in case.inputs.values():
        if stand_in_models.is_description(value):
            model = stand_in_models.build_model(value)
            before += [to_plain_data(parameter) for parameter in model.parameters()]
            after += parameters_after_step(model, list(model.parameters()))
    count = 0
    for parameter, unchanged, expected in zip(trained, before, after, strict=False):
        count += same(parameter, expected) and not same(parameter, unchanged)
    return count


def _of_sampler(observed: Record, case: Case) -> SamplerObservation:
    samples = observed["samples"]
    observation: dict[str, Any] = {
        "used_global_generator": not torch.equal(observed["random_state"], seeded(0).get_state()),
        "changed": _changed(call_inputs(case), observed["left"]),
        "remarks": observed["remarks"],
        **count_samples(samples, case),
    }
    if "frequencies" in observation:
        other = observed["samples_of_another_seed"]
        observation["repeatable"] = same(samples, observed["samples_again"])
        observation["varies_with_seed"] = not same(samples, other) and not _are_too_similar(samples, other, case)
    return cast(SamplerObservation, observation)


def count_samples(samples: Any, case: Case) -> dict[str, Any]:
    """Return the token frequencies of one sampler call, or the invalid output or token range."""
    n_rows, vocab_size = next(iter(case.inputs.values())).shape
    if not isinstance(samples, Tensor) or samples.shape != (n_rows * case.n_samples,) or samples.dtype != torch.int64:
        return {"output": to_plain_data(samples)}
    if samples.min() < 0 or samples.max() >= vocab_size:
        return {"range": [int(samples.min()), int(samples.max())]}
    return {"frequencies": _counts(samples, case) / case.n_samples, "n_samples": case.n_samples}


def _counts(samples: Tensor, case: Case) -> Tensor:
    """Count how often each token was drawn from each row."""
    n_rows, vocab_size = next(iter(case.inputs.values())).shape
    return torch.stack([torch.bincount(row, minlength=vocab_size) for row in samples.view(n_rows, case.n_samples)])


def _are_too_similar(samples: Tensor, other: Any, case: Case) -> bool:
    """Return whether the token counts of two draws are too similar to be random.

    The sum of the squared differences of the counts, each divided by the sum of the two counts, follows a χ²
    distribution.
    """
    if "frequencies" not in count_samples(other, case):
        return False  # the samples have a wrong shape or token range
    first, second = _counts(samples, case), _counts(other, case)
    either = first + second
    freedom = int((either > 0).sum()) - len(either)
    squares = float(((first - second) ** 2 / either.clamp(min=1)).sum())
    if freedom < 1:
        return False
    # an upper bound on the log of the lower tail probability
    likely = freedom / 2 * math.log(squares / 2 + 1e-30) - math.lgamma(freedom / 2 + 1)
    return likely < math.log(MIN_PROBABILITY) and freedom >= 8
