"""Call an attempt on a case and record what it showed.

This module runs beside a learner's code. It knows nothing of right and wrong: no reference, mistake or expected value
is imported here, directly or indirectly, so that a learner's process holds none. Cases come in as plain data,
observations go out as plain data.
"""

import contextlib
import time
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from transformer_lab.course.running import stand_in_models
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.crash_report import describe_crash
from transformer_lab.course.running.introspect import files_of, notebook_dependencies
from transformer_lab.course.running.isolation import (
    collected_warnings,
    default_torch_state,
    restored_globals,
    suppressed_output,
)
from transformer_lab.course.running.observation import (
    FunctionObservation,
    Gradients,
    ModuleObservation,
    Observation,
    SamplerObservation,
)
from transformer_lab.course.running.plain_data import same, to_plain_data
from transformer_lab.course.running.time_limit import TookTooLong, time_limit


def observe(attempt: Any, case: Case) -> Observation:
    """Call an attempt, which may be anything, as the case says.

    Whatever goes wrong inside becomes an observation; only ``TookTooLong`` and a Ctrl-C pass through.
    """
    seen: Observation
    try:
        with default_torch_state(), collected_warnings() as warned:
            match case.kind:
                case "function":
                    seen = _observe_function(attempt, case)
                case "module":
                    seen = _observe_module(attempt, case)
                case "sampler":
                    seen = _observe_sampler(attempt, case)
    except (TookTooLong, KeyboardInterrupt):
        raise
    except BaseException as error:  # sys.exit() in an attempt is one more way to fail
        seen = {"error": describe_crash(error, files_of(attempt))}
    seen["remarks"] = {**seen.get("remarks", {}), **notebook_dependencies(attempt), "warned": warned}
    return seen


def observe_all(attempt: Any, cases: list[Case], seconds: float) -> list[Observation]:
    """Call an attempt on the cases in turn, stopping at the first that outlasts the time they share.

    What the attempt prints is shown for the first case only.
    """
    observed: list[Observation] = []
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


def _observe_function(attempt: Any, case: Case) -> FunctionObservation:
    inputs, keywords = _copy_inputs(case.inputs), _copy_inputs(case.keywords)
    started = time.perf_counter()
    output = to_plain_data(returned := attempt(*inputs.values(), **keywords))
    seconds = time.perf_counter() - started
    originals = {**case.inputs, **case.keywords}
    changed = [
        name
        for name, value in {**inputs, **keywords}.items()
        if not stand_in_models.is_description(originals[name]) and not same(to_plain_data(value), originals[name])
    ]
    models = [value for value in inputs.values() if isinstance(value, nn.Module)]
    own_parameters = None
    if models and isinstance(returned, list | tuple):
        own_parameters = _count_objects(returned, {id(p) for model in models for p in model.parameters()})
    with suppressed_output():
        again, leaves, differentiable = _call_for_gradients(attempt, case)
    seen: FunctionObservation = {
        "output": output,
        "changed": changed,
        "repeatable": same(to_plain_data(again), output, tolerance=1e-4),  # for gradients, torch may take other kernels
        "remarks": {"seconds": seconds, "differentiable": differentiable},
    }
    if own_parameters is not None:
        seen["own_parameters"] = own_parameters
    if case.gradients:
        seen["gradients"] = _gradients(again, leaves)
    return seen


def _count_objects(value: Any, ids: set[int]) -> int:
    """Return the number of these objects in a value: not of their equals, as a copy of a parameter is not trained."""
    if not isinstance(value, dict | list | tuple):
        return int(id(value) in ids)
    return sum(_count_objects(item, ids) for item in (value.values() if isinstance(value, dict) else value))


def _call_for_gradients(attempt: Any, case: Case) -> tuple[Any, dict[str, Tensor], bool | None]:
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


def _observe_module(attempt: Any, case: Case) -> ModuleObservation:
    module = attempt(**case.arguments)
    parameters = dict(module.named_parameters())
    shapes = {name: list(p.shape) for name, p in parameters.items()}
    if shapes != {name: list(p.shape) for name, p in case.parameters.items()}:
        return {"parameters": shapes}  # nothing can be loaded, so nothing else can be compared
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(case.parameters[name])
    module.eval()
    seen = cast(ModuleObservation, {"parameters": shapes, **_observe_function(module, case)})
    with suppressed_output():
        if case.gradients:
            output, _, _ = _call_for_gradients(module, case)
            seen["parameter_gradients"] = _gradients(output, parameters)
        module.train()
        output = module(*_copy_inputs(case.inputs).values(), **_copy_inputs(case.keywords))
        seen["output_in_training"] = to_plain_data(output)
    return seen


def _observe_sampler(attempt: Any, case: Case) -> SamplerObservation:
    """Draw from every row many times, in one call on repeated rows; samples are judged by how often they come."""
    rows, inputs = next(iter(case.inputs.values())), call_inputs(case)

    def draw(seed: int) -> Any:
        generator = torch.Generator().manual_seed(seed)
        return attempt(*_copy_inputs(inputs).values(), **_copy_inputs(case.keywords), generator=generator)

    before, started = torch.get_rng_state(), time.perf_counter()
    samples = draw(0)
    seen: SamplerObservation = {
        "used_global_generator": not torch.equal(before, torch.get_rng_state()),
        "remarks": {"seconds": time.perf_counter() - started, "differentiable": None},
    }
    n_rows, vocab_size = rows.shape
    if not isinstance(samples, Tensor) or samples.shape != (n_rows * case.n_samples,) or samples.dtype != torch.int64:
        return {**seen, "output": to_plain_data(samples)}
    if samples.min() < 0 or samples.max() >= vocab_size:
        return {**seen, "range": [int(samples.min()), int(samples.max())]}
    counts = [torch.bincount(row, minlength=vocab_size) for row in samples.view(n_rows, case.n_samples)]
    seen["frequencies"] = torch.stack(counts) / case.n_samples
    seen["n_samples"] = case.n_samples
    with suppressed_output():
        seen["repeatable"] = same(samples, draw(0))
        seen["varies_with_seed"] = not same(samples, draw(1))
    return seen


def call_inputs(case: Case) -> dict[str, Any]:
    """Return the inputs of the call: a sampler gets each row as often as it is to draw from it."""
    if case.kind != "sampler":
        return dict(case.inputs)
    (name, rows), *others = case.inputs.items()
    return {name: rows.repeat_interleave(case.n_samples, dim=0), **dict(others)}


def _copy_inputs(values: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the inputs, so that an attempt that writes into them spoils nothing; build the stand-ins."""
    return {
        name: stand_in_models.build_model(value) if stand_in_models.is_description(value) else to_plain_data(value)
        for name, value in values.items()
    }


def _gradients(output: Any, leaves: Mapping[str, Tensor]) -> Gradients:
    """Return the gradient of a fixed weighted sum of the outputs at each leaf; None where none arrives."""
    if not isinstance(output, Tensor) or not output.requires_grad:
        return dict.fromkeys(leaves)
    coefficients = torch.arange(1.0, output.numel() + 1).cos().view(output.shape).to(output.dtype)
    found = torch.autograd.grad((output * coefficients).sum(), list(leaves.values()), allow_unused=True)
    return {name: to_plain_data(gradient) for name, gradient in zip(leaves, found, strict=True)}
