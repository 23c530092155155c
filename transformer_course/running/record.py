"""Call an attempt on a case and record the raw results, without comparing or judging them.

This module runs in the same process as the learner's code, which may replace any part of this module. It therefore
makes no decisions: it returns outputs and side effects as plain data, and ``observe`` evaluates the data elsewhere. No
reference, mistake or expected value is imported here, directly or indirectly.
"""

import contextlib
import math
import os
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from transformer_course.running import called_names, served_models, stand_in_models
from transformer_course.running.case import Case
from transformer_course.running.crash_report import describe_crash, message_of, near_method
from transformer_course.running.introspect import (
    files_of,
    gradient_cuts,
    kept_between_calls,
    line_of_stub,
    notebook_dependencies,
)
from transformer_course.running.isolation import (
    collected_warnings,
    default_torch_state,
    end_other_processes,
    restored_globals,
    suppressed_output,
)
from transformer_course.running.observation import CrashReport, Gradients, Record
from transformer_course.running.plain_data import PlainData, to_plain_data
from transformer_course.running.tensor_sizes import LargestTensor
from transformer_course.running.time_limit import Stopwatch, TookTooLong, time_limit


def record(attempt: Any, case: Case) -> Record:
    """Call an attempt, which may be any object, on a case.

    Every exception is recorded, except ``TookTooLong`` and ``KeyboardInterrupt``.
    """
    observed: Record
    try:
        with default_torch_state(), collected_warnings() as warned:
            match case.kind:
                case "function":
                    observed = _record_function(attempt, case)
                case "module":
                    observed = _record_module(attempt, case)
                case "sampler":
                    observed = _record_sampler(attempt, case)
                case "once":
                    observed = _record_once(attempt, case)
    except (TookTooLong, KeyboardInterrupt):
        raise
    except BaseException as error:  # sys.exit() in an attempt is an error like any other
        observed = {"error": describe_crash(error, files_of(attempt))}
        if isinstance(error, NotImplementedError) and (line := line_of_stub(attempt)):
            observed["remarks"] = {"left_stub": line}
        if 'missing the required "forward"' in message_of(error) and isinstance(attempt, type):
            observed["error"]["suggestion"] = near_method(attempt, "forward")
    observed["remarks"] = {**observed.get("remarks", {}), **notebook_dependencies(attempt), "warned": warned}
    if cuts := gradient_cuts(attempt):
        observed["remarks"]["cuts"] = cuts
    return observed


def record_all(
    attempt: Any, cases: list[Case], seconds: float, clock: float | None = None, max_idle: float = math.inf
) -> list[Record]:
    """Call an attempt on each case until a call exceeds the shared time limit or runs out of memory.

    Output printed by the attempt is shown only for the first case.

    Args:
        attempt: The attempt.
        cases: The cases.
        seconds: Time limit shared by the cases; with ``clock``, CPU time.
        clock: Wall-clock limit shared by the cases, for code that waits or gets little CPU time.
        max_idle: Seconds of wall-clock time after which code that only waits is stopped.
    """
    records: list[Record] = []
    stopwatch, own_pid = Stopwatch(), os.getpid()
    try:
        with restored_globals(), time_limit(seconds, clock, max_idle):
            for case in cases:
                with suppressed_output() if records else contextlib.nullcontext():
                    records.append(record(attempt, case))
                end_other_processes(own_pid)
                if "error" in (observed := records[-1]) and observed["error"]["type"] == "MemoryError":
                    break  # the remaining cases would also use up the time limit or run out of memory
    except TookTooLong:
        if stopwatch.clock < min(seconds, math.inf if clock is None else clock, max_idle):  # raised by an outer limit
            raise
        if len(records) < len(cases):  # otherwise, the limit expired just after the last case
            records.append({"error": _took_too_long(stopwatch, seconds, clock, max_idle)})
    return records


def _took_too_long(stopwatch: Stopwatch, seconds: float, clock: float | None, max_idle: float) -> CrashReport:
    """Report that the time limit was exceeded, with the CPU time if most of the time was spent waiting."""
    waited = clock is not None and stopwatch.computing < seconds
    if clock is not None and waited and stopwatch.clock < clock:
        message = f"it computed next to nothing for {max_idle:g} s"
    else:
        message = f"no answer within {clock if waited else seconds:g} s for all cases together"
    report: CrashReport = {"type": "TookTooLong", "message": message}
    return {**report, "computed": stopwatch.computing} if waited else report


def _record_function(attempt: Any, case: Case, parameters: Mapping[str, Tensor] | None = None) -> Record:
    inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
    models = [value for value in inputs.values() if isinstance(value, nn.Module)]
    with contextlib.ExitStack() as stack:
        watched = {name: stack.enter_context(LargestTensor(inputs[name])) for name in case.max_numbers}
        kept, stopwatch = kept_between_calls(attempt), Stopwatch()
        output = to_plain_data(returned := attempt(*inputs.values(), **keywords))
        seconds = stopwatch.computing
        keeps = kept_between_calls(attempt) != kept
    left = {name: _state_after_call(value) for name, value in {**inputs, **keywords}.items()}
    trained = None
    if models and isinstance(returned, list | tuple):
        trained = [parameter for model in models for parameter in parameters_after_step(model, returned)]
    written = _versions(returned)
    with suppressed_output():
        with called_names.watched():
            again, leaves, differentiable = _call_for_gradients(attempt, case)
        gradients, problem = _gradients(again, {**leaves, **(parameters or {})})
    observed: Record = {
        "output": output,
        "left": left,
        "again": to_plain_data(again),
        "versions": [written, _versions(returned)],
        "gradients": {name: gradients[name] for name in leaves},
        "remarks": {"seconds": seconds, "differentiable": differentiable, **({"backward": problem} if problem else {})},
    }
    if keeps:
        observed["remarks"]["keeps"] = True
    if _share_memory(returned, again):
        observed["remarks"]["remembers"] = True
    if trained is not None:
        observed["trained"] = trained
    if watched:
        observed["largest"] = {name: tensors.largest for name, tensors in watched.items()}
    if parameters is not None:
        observed["parameter_gradients"] = {name: gradients[name] for name in parameters}
    return observed


def _state_after_call(value: Any) -> PlainData:
    """Return an argument's value after the call as plain data; for a model, return its state."""
    return stand_in_models.state_of(value) if isinstance(value, nn.Module) else to_plain_data(value)


def parameters_after_step(model: nn.Module, returned: Any) -> list[PlainData]:
    """Return a model's parameters after a gradient step on the returned tensors. Copies of parameters are not updated.

    The gradients are fixed numbers, so ``observe`` can compute the same result from the original parameters.
    """
    parameters = list(model.parameters())
    for parameter in parameters:
        parameter.grad = _coefficients(parameter, None) if parameter.requires_grad else None
    with torch.no_grad():
        for tensor in _tensors(returned):
            if tensor.is_leaf and tensor.grad is not None:
                tensor -= tensor.grad
    return [to_plain_data(parameter) for parameter in parameters]


def _versions(value: Any) -> list[int]:
    """List the number of in-place modifications of each float tensor in a value."""
    return [tensor._version for tensor in _tensors(value) if not tensor.is_inference()]


def _share_memory(first: Any, second: Any) -> bool:
    """Return whether two calls with copies of the same inputs returned tensors that share memory."""
    kept = {tensor.untyped_storage().data_ptr() for tensor in _tensors(first) if tensor.numel()}
    return any(tensor.untyped_storage().data_ptr() in kept for tensor in _tensors(second) if tensor.numel())


def _call_for_gradients(attempt: Any, case: Case) -> tuple[Any, dict[str, Tensor], bool | None]:
    """Call with gradients enabled; return the output, the tensors to differentiate and whether gradients can flow."""
    inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
    given = {**inputs, **keywords}
    leaves: dict[str, Tensor] = {}
    for argument, value in given.items():
        if argument not in case.constants:
            for name, tensor in _named_tensors(argument, value):
                leaves[name] = tensor.requires_grad_()
    # Pass copies, because torch forbids even harmless in-place operations on leaves.
    copies = {name: _cloned(value) for name, value in given.items()}
    for argument, model in given.items():
        if isinstance(model, nn.Module):
            # Frozen parameters stay frozen, because an attempt may read `requires_grad`.
            trainable = [(name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad]
            for name, tensor in (*trainable, *model.named_buffers()):
                if tensor.is_floating_point():
                    leaves[f"{argument}.{name}"] = tensor.requires_grad_()
    try:
        output = attempt(*[copies[name] for name in inputs], **{name: copies[name] for name in keywords})
    except Exception:  # for example, .numpy() fails on a tensor that requires gradients
        return attempt(*copy_inputs(case.inputs).values(), **copy_inputs(case.keywords)), leaves, False
    return output, leaves, any(t.requires_grad for t in _tensors(output)) if leaves else None


def _named_tensors(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """Name the float tensors in an argument, for example ``cache[0]`` in a pair."""
    if isinstance(value, Tensor) and value.is_floating_point():
        yield name, value
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _named_tensors(f"{name}[{index}]", item)


def _cloned(value: Any) -> Any:
    """Clone the float tensors in an argument so that gradients flow through the clones."""
    if isinstance(value, Tensor):
        return value.clone() if value.is_floating_point() else value
    return type(value)(map(_cloned, value)) if type(value) in (list, tuple) else value


def _record_once(attempt: Any, case: Case) -> Record:
    with torch.no_grad():
        return {"output": to_plain_data(attempt(*copy_inputs(case.inputs).values(), **copy_inputs(case.keywords)))}


def _record_module(attempt: Any, case: Case) -> Record:
    module = load_module(attempt, case)
    if isinstance(module, dict):
        return {"parameters": module}  # the parameters cannot be loaded, so nothing else can be compared
    parameters = dict(module.named_parameters())
    observed: Record = {"parameters": _shapes(parameters), **_record_function(module, case, parameters)}
    if frozen := [name for name, parameter in parameters.items() if not parameter.requires_grad]:
        observed["frozen"] = sorted(frozen)
    if case.not_loaded:
        observed["gradients"] = observed["parameter_gradients"] = {}
    with suppressed_output():
        later = [{**case.inputs, **case.keywords, **call} for call in case.later]
        outputs = [_call_by_name(module, case, call) for call in later]
        module.train()
        observed["output_in_training"] = _call_by_name(module, case, {**case.inputs, **case.keywords})
        if later:
            observed["later"] = outputs
            observed["later_in_training"] = [_call_by_name(module, case, call) for call in later]
    return observed


def load_module(attempt: Any, case: Case) -> Any:
    """Build a module and load the case's parameters, in eval mode.

    A submodule that was passed to the constructor already has its parameters.

    Returns:
        The module, or the shapes of its parameters by name if these shapes differ from the case.
    """
    module = attempt(**copy_inputs(case.arguments))
    parameters = dict(module.named_parameters())
    if (shapes := _shapes(parameters)) != _shapes(case.parameters):
        return shapes
    with torch.no_grad():
        for name, parameter in parameters.items():
            is_from_argument = name.partition(".")[0] in case.arguments
            if not is_from_argument and name not in case.not_loaded:
                parameter.copy_(case.parameters[name])
    return module.eval()


def _shapes(parameters: Mapping[str, Tensor]) -> dict[str, list[int]]:
    return {name: list(parameter.shape) for name, parameter in parameters.items()}


def _call_by_name(module: Any, case: Case, values: Mapping[str, Any]) -> PlainData:
    """Call a module with the case's inputs as positional arguments and all other values as keyword arguments."""
    copies = copy_inputs(values)
    inputs = [copies.pop(name) for name in case.inputs]
    return to_plain_data(module(*inputs, **copies))


def _record_sampler(attempt: Any, case: Case) -> Record:
    """Repeat the rows to draw many samples from each row in one call."""
    given = call_inputs(case)

    def draw(seed: int) -> tuple[PlainData, dict[str, Any]]:
        inputs, keywords = copy_inputs(given), copy_inputs(case.keywords)
        return to_plain_data(attempt(*inputs.values(), **keywords, generator=seeded(seed))), inputs

    stopwatch = Stopwatch()
    samples, inputs = draw(0)
    observed: Record = {
        "samples": samples,
        "random_state": torch.get_rng_state(),
        "left": {name: _state_after_call(value) for name, value in inputs.items()},
        "remarks": {"seconds": stopwatch.computing, "differentiable": None},
    }
    if isinstance(samples, Tensor):
        with suppressed_output():
            observed["samples_again"] = draw(0)[0]
            with called_names.watched():
                observed["samples_of_another_seed"] = draw(1)[0]
    return observed


def seeded(seed: int) -> torch.Generator:
    """Return a random number generator to pass to a sampler."""
    return torch.Generator().manual_seed(seed)


def call_inputs(case: Case) -> dict[str, Any]:
    """Return the inputs of the call. For a sampler, each row is repeated once per sample."""
    if case.kind != "sampler":
        return dict(case.inputs)
    return {
        name: value.repeat_interleave(case.n_samples, dim=0) if isinstance(value, Tensor) else value
        for name, value in case.inputs.items()
    }


def copy_inputs(values: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the inputs, so that in-place changes don't affect other calls, and build the stand-in models."""
    copies: dict[str, Any] = {}
    for name, value in values.items():
        if served_models.is_served(value):
            copies[name] = served_models.ServedModel(value)
        elif stand_in_models.is_description(value):
            copies[name] = stand_in_models.build_model(value)
        else:
            copies[name] = to_plain_data(value)
    return copies


def _gradients(output: Any, leaves: Mapping[str, Tensor]) -> tuple[Gradients, str]:
    """Return each leaf's gradient of a fixed weighted sum of the outputs, and torch's error message if there is one.

    The gradient of a leaf that receives no gradient is None.
    """
    total = torch.zeros(())
    for tensor in _tensors(output):
        if tensor.requires_grad:
            total = total + (tensor * _coefficients(tensor, output)).sum()
    if not total.requires_grad or not leaves:
        return dict.fromkeys(leaves), ""
    trained = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}  # a parameter may be frozen
    try:
        found = torch.autograd.grad(total, list(trained.values()), allow_unused=True)
    except RuntimeError as error:  # for example, because a tensor was modified in place after use
        return dict.fromkeys(leaves), str(error).partition("\n")[0]
    received = {name: to_plain_data(gradient) for name, gradient in zip(trained, found, strict=True)}
    return {**dict.fromkeys(leaves), **received}, ""


def _coefficients(tensor: Tensor, output: Any) -> Tensor:
    """Return a weight for each element of a tensor, based on its position or on the indices returned with the tensor.

    If the output includes indices, as for ``topk``, the order of the elements does not matter.
    """
    positions = torch.arange(1.0, tensor.numel() + 1).view(tensor.shape)
    for other in output if isinstance(output, list | tuple) else ():
        if isinstance(other, Tensor) and other.dtype == torch.int64 and other.shape == tensor.shape and other.dim():
            rows = torch.arange(tensor.numel() // tensor.shape[-1]).view(*tensor.shape[:-1], 1)
            positions = 1.0 + other + 100 * rows
    return positions.cos().to(tensor.dtype)


def _tensors(value: Any) -> list[Tensor]:
    """List the float tensors in a value."""
    if isinstance(value, Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        value = list(value.values())
    return [tensor for item in value for tensor in _tensors(item)] if isinstance(value, list | tuple) else []
