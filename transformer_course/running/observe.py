"""Read off a record what a call showed: what changed, what comes again, how often each token was drawn.

Of what was handed in, records are made in the sandbox, and read here, on the trusted side: everything in one is
untrusted. A lesson does both in one process.
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
"""What an observation has as it was recorded."""
TOO_EVEN = 1e-9
"""Two draws from the same probabilities are by chance as alike as this in one of a billion."""


def observe(attempt: Any, case: Case) -> Observation:
    """Call an attempt, which may be anything, as the case says, and return what that showed.

    Whatever goes wrong inside becomes an observation; only ``TookTooLong`` and a Ctrl-C pass through.
    """
    return observation_of(record(attempt, case), case)


def observe_all(
    attempt: Any, cases: list[Case], seconds: float, clock: float | None = None, max_idle: float = math.inf
) -> list[Observation]:
    """Call an attempt on the cases as ``record_all`` does, and return what that showed."""
    return observations_of(record_all(attempt, cases, seconds, clock, max_idle), cases)


def observations_of(records: Sequence[Record], cases: Sequence[Case]) -> list[Observation]:
    """Return what the records of some cases show; there may be fewer of them."""
    return [observation_of(one, case) for one, case in zip(records, cases, strict=False)]


def observation_of(observed: Record, case: Case) -> Observation:
    """Return what a record shows.

    Raises:
        Exception: Any, if the record is malformed: an untrusted process may send any plain data.
    """
    kept = {key: observed[key] for key in KEPT if key in observed}
    if "error" in observed or case.kind == "once" or ("parameters" in observed and "output" not in observed):
        return cast(Observation, kept)
    if case.kind == "sampler":
        return _of_sampler(observed, case)
    kept |= {
        "changed": _changed({**case.inputs, **case.keywords}, observed["left"]),
        "repeatable": same(
            observed["again"], observed["output"], tolerance=1e-4
        ),  # for gradients, torch takes other kernels
    }
    before, after = observed["versions"]
    if before != after:
        kept["overwritten"] = True
    if "trained" in observed:
        kept["own_parameters"] = _count_trained(case, observed["trained"])
    if too_large := [name for name, most in case.max_numbers.items() if observed["largest"][name] > most]:
        kept["too_large"] = too_large
    return cast(Observation, kept)


def _changed(given: Mapping[str, Any], left: Mapping[str, Any]) -> list[str]:
    """List the arguments that a call wrote into, and of a model the tables, or "training" for its mode."""
    changed = []
    for name, before in given.items():
        if not stand_in_models.is_description(before):
            changed += [] if same(left[name], to_plain_data(before)) else [name]
            continue
        was, now = stand_in_models.state_of(stand_in_models.build_model(before)), left[name]
        if stand_in_models.is_only_called(before):  # in the sandbox, its tables are elsewhere
            was = {part: value for part, value in was.items() if part in now}
        changed += [f"{name}.{part}" for part in was if part not in now or not same(now[part], was[part])]
    return changed


def _count_trained(case: Case, trained: Sequence[Any]) -> int:
    """Count the parameters of the case's models that have taken the gradient step."""
    before: list[Any] = []
    after: list[Any] = []
    for value in case.inputs.values():
        if stand_in_models.is_description(value):
            model = stand_in_models.build_model(value)
            before += [to_plain_data(parameter) for parameter in model.parameters()]
            after += parameters_after_step(model, list(model.parameters()))
    steps = zip(trained, before, after, strict=False)
    return sum(same(one, right) and not same(one, unchanged) for one, unchanged, right in steps)


def _of_sampler(observed: Record, case: Case) -> SamplerObservation:
    samples = observed["samples"]
    found: dict[str, Any] = {
        "used_global_generator": not torch.equal(observed["random_state"], seeded(0).get_state()),
        "changed": _changed(call_inputs(case), observed["left"]),
        "remarks": observed["remarks"],
        **count_samples(samples, case),
    }
    if "frequencies" in found:
        other = observed["samples_of_another_seed"]
        found["repeatable"] = same(samples, observed["samples_again"])
        found["varies_with_seed"] = not same(samples, other) and not _too_even(samples, other, case)
    return cast(SamplerObservation, found)


def count_samples(samples: Any, case: Case) -> dict[str, Any]:
    """Return what one call of a sampler shows: how often each token came, or what is wrong with the samples."""
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


def _too_even(samples: Tensor, other: Any, case: Case) -> bool:
    """Return whether two draws have counts so much alike that they were not drawn, but dealt out.

    The sum of the squared differences of two counts, each divided by the sum of the two, is distributed as χ².
    """
    if "frequencies" not in count_samples(other, case):
        return False  # its range, or its shape, tells
    first, second = _counts(samples, case), _counts(other, case)
    either = first + second
    freedom = int((either > 0).sum()) - len(either)
    squares = float(((first - second) ** 2 / either.clamp(min=1)).sum())
    if freedom < 1:
        return False
    likely = freedom / 2 * math.log(squares / 2 + 1e-30) - math.lgamma(freedom / 2 + 1)  # above the log of its tail
    return likely < math.log(TOO_EVEN) and freedom >= 8
