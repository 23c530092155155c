"""Put into words how an attempt's observations differ from what was expected."""

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import torch
from torch import Tensor

from transformer_lab.course.checking import dimensions
from transformer_lab.course.checking.tolerance import ABSOLUTE, RELATIVE, distance, frequency_distance
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises import every_exercise
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.observation import (
    CrashReport,
    FunctionObservation,
    Gradients,
    ModuleObservation,
    Observation,
    SamplerObservation,
)
from transformer_lab.course.running.plain_data import PlainData
from transformer_lab.course.running.stand_in_models import is_description

MAX_SHOWN_NUMBERS = 16
"""A tensor with more numbers is not shown, only its largest difference."""
MAX_CHARACTERS = 2000
"""A longer message is cut."""


def explain_crash(where: str, error: CrashReport, inputs: str = "") -> str:
    """Put into words what was raised, on which line of the learner's own, and what the inputs were."""
    if error["type"] == "TookTooLong":
        return f"{where}: stopped, {error['message']}. Either a loop in it does not end, or it is very slow."
    told = f"{where}: {error['type']}" + (f": {error['message']}" if error["message"] else "")
    if error.get("code"):
        told += f"\nOn line {error['line']} of the cell:\n    {error['code']}"
    return f"{told}\nThe inputs: {inputs}." if inputs else told


def explain_reading(names: Sequence[str]) -> str:
    """Put into words which data of the notebook an attempt reads."""
    what, there = ("them", "those are there and fit") if len(names) > 1 else ("it", "this is there and fits")
    read = " and ".join(f"`{name}`" for name in names)
    return f"It reads {read} from the notebook, so it works only while {there}: take {what} from the arguments."


def explain_unfinished(name: str) -> str:
    """Put into words that an attempt calls a function that is not written yet."""
    told = f"It calls `{name}`, which is not written yet."
    return f"{told} Meanwhile `parts.{name}` does the same work." if name in every_exercise() else told


def explain_difference(exercise: Exercise, where: str, case: Case, seen: Observation, right: Observation) -> str:
    """Name the first thing that differs: parameters, the output, then what shows only on a closer look."""
    match case.kind:
        case "function":
            told = _explain_function(exercise, case, cast(FunctionObservation, seen), cast(FunctionObservation, right))
        case "module":
            told = _explain_module(exercise, case, cast(ModuleObservation, seen), cast(ModuleObservation, right))
        case "sampler":
            told = _explain_sampler(case, cast(SamplerObservation, seen), cast(SamplerObservation, right))
    return f"{where}: {told or 'it does not do what was asked.'}"


def _explain_function(
    exercise: Exercise, case: Case, seen: FunctionObservation, right: FunctionObservation
) -> str | None:
    if not seen["repeatable"]:
        return "a second call with the same arguments gives another output."
    if distance(seen["output"], right["output"]) > 1:
        return _output(exercise, case, seen["output"], right["output"])
    if seen.get("overwritten"):
        return "the output is right, but a second call writes into what the first one returned."
    if seen["changed"]:
        return f"the output is right, but the call changed its argument {', '.join(seen['changed'])}."
    if distance(own := seen.get("own_parameters"), expected := right.get("own_parameters")) > 0:
        return f"the numbers are right, but {own} of the model's own parameters are handed over, not {expected}."
    return _gradients("argument", seen.get("gradients", {}), right.get("gradients", {}))


def _explain_module(exercise: Exercise, case: Case, seen: ModuleObservation, right: ModuleObservation) -> str | None:
    if seen["parameters"] != right["parameters"]:
        return _parameters(seen["parameters"], right["parameters"])
    called, expected = cast(FunctionObservation, seen), cast(FunctionObservation, right)  # loaded, so it was called
    return (
        _explain_function(exercise, case, called, expected)
        or _gradients("parameter", seen.get("parameter_gradients", {}), right.get("parameter_gradients", {}))
        or "the output is right in eval mode, but not in train mode."
    )


def _explain_sampler(case: Case, seen: SamplerObservation, right: SamplerObservation) -> str | None:
    if not seen.get("repeatable", True):
        return "a second call with the same arguments gives another output."
    if "frequencies" not in seen:
        return _samples(case, seen)
    if frequency_distance(seen["frequencies"], right["frequencies"], right["n_samples"]) > 1:
        return _frequencies(seen["frequencies"], right["frequencies"])
    if seen["used_global_generator"]:
        return "it draws from torch's global random numbers, not from the generator it is given."
    return None


def _gradients(of_what: str, seen: Gradients, right: Gradients) -> str | None:
    for name, gradient in right.items():
        if distance(seen.get(name), gradient) > 1:
            missing = seen.get(name) is None
            what = "gets no gradient" if missing else "gets another gradient than it should"
            return f"the output is right, but the {of_what} {name} {what}."
    return None


def _parameters(seen: Mapping[str, list[int]], right: Mapping[str, list[int]]) -> str:
    for name, shape in right.items():
        if name not in seen:
            return f"the parameter {name} is missing; there are {', '.join(seen) or 'none'}."
        if seen[name] != shape:
            return f"the parameter {name} should have the shape {tuple(shape)}; it has {tuple(seen[name])}."
    return f"there are parameters nobody asked for: {', '.join(name for name in seen if name not in right)}."


def _output(exercise: Exercise, case: Case, seen: PlainData, right: PlainData, place: int = 0) -> str:
    if seen is None:
        return "it returned None. Is there a `return`?"
    if isinstance(seen, tuple | list) and isinstance(right, tuple | list) and len(seen) == len(right):
        place = next(i for i, pair in enumerate(zip(seen, right, strict=True)) if distance(*pair) > 1)
        told = _output(exercise, case, seen[place], right[place], place)
        return f"value {place + 1} of {len(right)}: {told}"
    if isinstance(seen, Mapping) and isinstance(right, Mapping) and "not_plain" not in seen:
        if seen.keys() != right.keys():
            return f"expected a dict with the keys {_listed(right)}; got {_listed(seen)}."
        key = next(key for key in right if distance(seen[key], right[key]) > 1)
        return f"{key}: {_output(exercise, case, seen[key], right[key])}"
    if isinstance(seen, Tensor) and not seen.dim() and not isinstance(right, Tensor):
        seen = seen.item()
    if isinstance(seen, Tensor) and isinstance(right, Tensor):
        known = dimensions.dimension_sizes(exercise.reference, case.inputs)
        names = dimensions.output_dimensions(exercise.reference, place)
        if seen.shape != right.shape:
            expected = dimensions.name_dimensions(right.shape, names, known)
            return f"expected the shape {expected}, got {dimensions.guess_dimensions(seen.shape, known)}."
        if seen.dtype != right.dtype:
            return f"expected the dtype {right.dtype}, got {seen.dtype}."
        if right.numel() > MAX_SHOWN_NUMBERS:
            return _largest_difference(seen, right, names, known)
    elif _kind(seen) != _kind(right):
        return f"expected {_kind(right)}, got {_kind(seen)}."
    rows = [("expected", right), ("got", seen)]
    inputs = {name: value for name, value in case.inputs.items() if not is_description(value)}
    if sum(v.numel() if isinstance(v, Tensor) else 1 for v in inputs.values()) <= MAX_SHOWN_NUMBERS:
        rows = [*inputs.items(), *rows]
    width = max(len(name) for name, _ in rows)
    return "the numbers differ.\n" + "\n".join(f"    {name:{width}}  {format_value(value)}" for name, value in rows)


def _listed(keys: Iterable[str]) -> str:
    return " and ".join(keys) or "none"


def _largest_difference(seen: Tensor, right: Tensor, names: list[str], known: Mapping[str, int]) -> str:
    a, b = seen.double(), right.double()
    apart = (a - b).abs().nan_to_num(nan=torch.inf).masked_fill(a == b, 0.0)
    worst = torch.unravel_index(apart.argmax(), apart.shape)
    index = tuple(int(i) for i in worst)
    off = int((~torch.isclose(a, b, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)).sum())
    # "n_query=3" names an index as well as it names a size
    place = dimensions.name_dimensions(index, names, known)
    told = f"{off} of the {right.numel()} numbers {'differs' if off == 1 else 'differ'}, most at {place}:"
    return f"{told}\n    expected  {format_value(right[index])}\n    got       {format_value(seen[index])}"


def _samples(case: Case, seen: SamplerObservation) -> str:
    if "range" in seen:
        n = next(iter(case.inputs.values())).shape[-1]
        low, high = seen["range"]
        return f"tokens go from 0 to {n - 1}; these go from {low} to {high}."
    if isinstance(seen["output"], Tensor):
        return (
            "expected one int64 token per row of the first argument, shape (batch,); "
            f"got {_kind(seen['output'])} and dtype {seen['output'].dtype}."
        )
    return f"expected one int64 token per row of the first argument; got {_kind(seen['output'])}."


def _frequencies(seen: Tensor, right: Tensor) -> str:
    never, also = ((seen == 0) & (right > 0)).nonzero(), ((seen > 0) & (right == 0)).nonzero()
    if len(also):
        row, token = also[0].tolist()
        return f"row {row}: token {token} was drawn, and never should be."
    if len(never):
        row, token = never[0].tolist()
        return f"row {row}: token {token} was never drawn, and should be {float(right[row, token]):.0%} of the time."
    row, token = torch.unravel_index((seen - right).abs().argmax(), right.shape)
    return f"row {row}: token {token} came {seen[row, token]:.1%} of the time, and should {right[row, token]:.1%}."


def _kind(value: PlainData) -> str:
    if type(value) in (int, float):
        return "a number"
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    name = str(value["not_plain"]) if isinstance(value, Mapping) and "not_plain" in value else type(value).__name__
    return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {name}"


def readable(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return a text that is short enough to be read, without what cannot be written to a file."""
    short = text if len(text) <= max_characters else f"{text[:max_characters]} …"
    return short.encode("utf-8", "replace").decode()


def format_value(value: object) -> str:
    """Return plain data with few digits, on one line."""
    if isinstance(value, Tensor):
        return format_value(value.tolist())
    if isinstance(value, list):
        return f"[{', '.join(map(format_value, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(format_value, value))}{',' * (len(value) == 1)})"
    if isinstance(value, float):
        return f"{value + 0.0:.4g}"
    return repr(value)
