"""Run an attempt on a case and write down what was seen: the only module that runs beside learner code.

It knows nothing of right and wrong: no reference, mistake or expected value is imported here, directly or
indirectly, so that a learner's process holds none. Cases come in as plain data, observations go out as plain data.
"""

import contextlib
import time
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.course.running import stand_in_models
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.crash_report import describe_crash
from transformer_lab.course.running.introspect import notebook_dependencies
from transformer_lab.course.running.isolation import (
    collected_warnings,
    default_torch_state,
    restored_globals,
    suppressed_output,
)
from transformer_lab.course.running.plain_data import same, to_plain_data
from transformer_lab.course.running.time_limit import TookTooLong, time_limit

Observations = dict[str, Any]
"""What one call showed. ``error`` alone, or what it gave; ``remarks`` are not held against an attempt."""


def observe(attempt: Any, case: Case) -> Observations:
    """Call the attempt, which may be anything, as the case says.

    Whatever goes wrong inside becomes an observation; only ``TookTooLong`` and a Ctrl-C pass through.
    """
    look = {"function": _call_function, "module": _call_module, "sampler": _call_sampler}[case.kind]
    try:
        with default_torch_state(), collected_warnings() as warned:
            seen = look(attempt, case)
    except (TookTooLong, KeyboardInterrupt):
        raise
    except BaseException as error:  # sys.exit() in an attempt is one more way to fail
        seen = {"error": describe_crash(error, attempt)}
    seen["remarks"] = {**seen.get("remarks", {}), **notebook_dependencies(attempt), "warned": warned}
    return seen


def observe_all(attempt: Any, cases: list[Case], seconds: float) -> list[Observations]:
    """Call the attempt on the cases in turn, stopping at the first that outlasts the time they share.

    What the attempt prints is shown for the first case only.
    """
    observed: list[Observations] = []
    deadline = time.monotonic() + seconds
    try:
        with restored_globals(), time_limit(seconds):
            for case in cases:
                with suppressed_output() if observed else contextlib.nullcontext():
                    observed.append(observe(attempt, case))
    except TookTooLong:
        if time.monotonic() < deadline:  # it is an outer limit's
            raise
        message = f"no answer within {seconds:g} s for all cases together"
        observed.append({"error": {"type": "TookTooLong", "message": message}})
    return observed


def _call_function(attempt: Any, case: Case) -> Observations:
    inputs, keywords = _copy_inputs(case.inputs), _copy_inputs(case.keywords)
    started = time.perf_counter()
    output = to_plain_data(made := attempt(*inputs.values(), **keywords))
    seconds = time.perf_counter() - started
    originals = {**case.inputs, **case.keywords}
    seen: Observations = {
        "output": output,
        "changed": [
            name
            for name, value in {**inputs, **keywords}.items()
            if not stand_in_models.is_description(originals[name]) and not same(to_plain_data(value), originals[name])
        ],
    }
    models = [value for value in inputs.values() if isinstance(value, nn.Module)]
    if models and isinstance(made, list | tuple):
        seen["own_parameters"] = _how_many(made, {id(p) for model in models for p in model.parameters()})
    with suppressed_output():
        again, leaves, differentiable = _call_again(attempt, case)
    seen["repeatable"] = same(
        to_plain_data(again), output, tolerance=1e-4
    )  # torch may take another kernel for gradients
    if case.gradients:
        seen["gradients"] = _gradients(again, leaves)
    seen["remarks"] = {"seconds": seconds, "differentiable": differentiable}
    return seen


def _how_many(value: Any, ids: set[int]) -> int:
    """Count what of these is in a value: not what is equal to it, as a copy of a parameter is not trained."""
    items = value.values() if isinstance(value, dict) else value
    return sum(_how_many(i, ids) for i in items) if isinstance(value, dict | list | tuple) else int(id(value) in ids)


def _call_again(attempt: Any, case: Case) -> tuple[Any, dict[str, Tensor], bool | None]:
    """Call with gradients wanted: the output, the inputs to find gradients at, and whether any can reach them."""
    inputs = _copy_inputs(case.inputs)
    leaves = {n: t.requires_grad_() for n, t in inputs.items() if isinstance(t, Tensor) and t.is_floating_point()}
    # A copy goes in: on the leaf itself, torch forbids the in-place steps that are only unwise.
    watched = {name: value.clone() if name in leaves else value for name, value in inputs.items()}
    try:
        output = attempt(*watched.values(), **_copy_inputs(case.keywords))
    except Exception:  # such as .numpy() or .tolist() on a tensor whose gradient is wanted
        return attempt(*_copy_inputs(case.inputs).values(), **_copy_inputs(case.keywords)), leaves, False
    return output, leaves, (isinstance(output, Tensor) and output.requires_grad) if leaves else None


def _call_module(attempt: Any, case: Case) -> Observations:
    module = attempt(**case.arguments)
    parameters = dict(module.named_parameters())
    seen: Observations = {"parameters": {name: list(p.shape) for name, p in parameters.items()}}
    if seen["parameters"] != {name: list(p.shape) for name, p in case.parameters.items()}:
        return seen  # nothing can be loaded, so nothing else can be compared
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(case.parameters[name])
    module.eval()
    seen |= _call_function(module, case)
    with suppressed_output():
        if case.gradients:
            output, _, _ = _call_again(module, case)
            seen["parameter_gradients"] = _gradients(output, parameters)
        module.train()
        seen["output_in_training"] = to_plain_data(
            module(*_copy_inputs(case.inputs).values(), **_copy_inputs(case.keywords))
        )
    return seen


def _call_sampler(attempt: Any, case: Case) -> Observations:
    """Draw from every row many times, in one call on repeated rows; samples are judged by how often they come."""
    rows, inputs = next(iter(case.inputs.values())), call_inputs(case)

    def draw(seed: int) -> Any:
        return attempt(
            *_copy_inputs(inputs).values(), **_copy_inputs(case.keywords), generator=torch.Generator().manual_seed(seed)
        )

    before, started = torch.get_rng_state(), time.perf_counter()
    samples = draw(0)
    seen: Observations = {
        "used_global_generator": not torch.equal(before, torch.get_rng_state()),
        "remarks": {"seconds": time.perf_counter() - started, "differentiable": None},
    }
    if (
        not isinstance(samples, Tensor)
        or samples.shape != (len(rows) * case.n_samples,)
        or samples.dtype != torch.int64
    ):
        return {**seen, "output": to_plain_data(samples)}
    if samples.min() < 0 or samples.max() >= rows.shape[1]:
        return {**seen, "range": [int(samples.min()), int(samples.max())]}
    seen["frequencies"] = torch.stack(
        [
            torch.bincount(row, minlength=rows.shape[1]) / case.n_samples
            for row in samples.view(len(rows), case.n_samples)
        ]
    )
    seen["n_samples"] = case.n_samples
    with suppressed_output():
        seen["repeatable"] = same(samples, draw(0))
        seen["varies_with_seed"] = not same(samples, draw(1))
    return seen


def call_inputs(case: Case) -> dict[str, Any]:
    """Give the inputs as they are handed over: a sampler gets every row as often as it is to draw from it."""
    if case.kind != "sampler":
        return dict(case.inputs)
    (name, rows), *others = case.inputs.items()
    return {name: rows.repeat_interleave(case.n_samples, dim=0), **dict(others)}


def _copy_inputs(values: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the inputs, so that an attempt that writes into them spoils nothing; build the stand-ins."""
    return {
        n: stand_in_models.build_model(v) if stand_in_models.is_description(v) else to_plain_data(v)
        for n, v in values.items()
    }


def _gradients(output: Any, leaves: Mapping[str, Tensor]) -> dict[str, Tensor | None]:
    """Find the gradient of a fixed mixture of the outputs at each leaf; None where nothing arrives."""
    if not isinstance(output, Tensor) or not output.requires_grad:
        return dict.fromkeys(leaves)
    mixture = torch.arange(1.0, output.numel() + 1).cos().view(output.shape).to(output.dtype)
    found = torch.autograd.grad((output * mixture).sum(), list(leaves.values()), allow_unused=True)
    return {name: to_plain_data(gradient) for name, gradient in zip(leaves, found, strict=True)}
