"""Explain how an attempt's observations differ from the expected observations.

Every sentence describes the observations in one case and makes no claim about other cases.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import cast

import torch
from torch import Tensor

from transformer_course.checking import named_shapes
from transformer_course.checking.case_display import case_rows
from transformer_course.checking.formatting import format_value, join_words, listed, readable
from transformer_course.checking.numeric_relation import explain_relation
from transformer_course.checking.tolerance import (
    ABSOLUTE_TOLERANCE,
    RELATIVE_TOLERANCE,
    Difference,
    distance,
    path_to_difference,
)
from transformer_course.exercise import Exercise
from transformer_course.running.case import Case
from transformer_course.running.observation import (
    CrashReport,
    FunctionObservation,
    ModuleObservation,
    Observation,
    SamplerObservation,
)
from transformer_course.running.plain_data import PlainData

MAX_DISPLAYED_NUMBERS = 16
"""For larger outputs, only the largest difference is shown."""
ORDINALS = ("first", "second", "third", "fourth", "fifth", "last of many")
NOT_REPEATABLE = "your code returns a different output when it is called again with the same arguments"
ON_LINE = "\nOn your line {}:\n    "
"""Text that introduces the line of a crash."""
MAX_ERROR_LENGTH = 300
"""Longer error messages, which a learner may have written, are truncated to this number of characters."""

Path = Sequence[int | str]


def explain_crash(where: str, error: CrashReport, inputs: str = "", absent: Sequence[str] = (), help: str = "") -> str:
    """Report an exception, the line of the learner's code that raised it, and the inputs.

    Args:
        where: Description of the case.
        error: The exception.
        inputs: Shapes of the inputs.
        absent: Names of the arguments that are None.
        help: Suggested fix, or "" if there is none.
    """
    kind, message = (readable(text, MAX_ERROR_LENGTH) for text in (error["type"], error["message"]))
    if kind == "TookTooLong" and "computed" in error:
        return (
            f"{where}: stopped, {message}. Your code computed for {error['computed']:.1f} s in all. Does it wait for "
            "something, such as input, a lock or the network?"
        )
    if kind == "TookTooLong":
        return f"{where}: stopped, {message}. Your code either never ends or is very slow."
    report = f"{where}: {kind}" + (f": {message}" if message else "")
    if code := error.get("code"):
        report += f"{ON_LINE.format(error['line'])}{readable(code, MAX_ERROR_LENGTH)}"
    report += f"\n{help}" if help else ""
    if absent and "NoneType" in error["message"]:
        report += f"\nIn this case {listed(absent)} {'is' if len(absent) == 1 else 'are'} None."
    return f"{report}\nThe inputs: {inputs}." if inputs else report


def explain_reading(names: Sequence[str]) -> str:
    """Report which notebook variables an attempt reads."""
    which, values = ("these variables exist", "them") if len(names) > 1 else ("this variable exists", "it")
    return (
        f"Your code reads {listed(names)} from the notebook, so it works only while {which} with the right value. "
        f"Pass {values} as an argument, or define {values} inside your code."
    )


def explain_unfinished(name: str, parts: Collection[str] = ()) -> str:
    """Report that an attempt uses a function that the learner has not written yet.

    Args:
        name: Name of the function.
        parts: Names available in ``parts``.
    """
    report = f"Your code uses `{name}`, which you have not written yet."
    return f"{report} Until then, you can use `parts.{name}`." if name in parts else report


def explain_differences(
    exercise: Exercise, where: str, case: Case, observed: Observation, right: Observation, found: Sequence[Difference]
) -> str:
    """Explain the first difference between two calls that has an explanation."""
    for difference in found:
        if report := _explain_field(exercise, case, observed, right, difference):
            return f"{where}: {report}"
    return f"{where}: your code does not do what the exercise asks yet."


def _explain_field(
    exercise: Exercise, case: Case, observed: Observation, right: Observation, difference: Difference
) -> str | None:
    """Explain how a field differs, or return None if an explanation would not help a learner."""
    if case.kind == "sampler":
        samples, expected = cast(SamplerObservation, observed), cast(SamplerObservation, right)
        return _explain_sampler(case, samples, expected, difference.field)
    if case.kind == "module":
        of_module, of_right = cast(ModuleObservation, observed), cast(ModuleObservation, right)
        return _explain_module(exercise, case, of_module, of_right, difference)
    called, expected_call = cast(FunctionObservation, observed), cast(FunctionObservation, right)
    return _explain_function(exercise, case, called, expected_call, difference)


def _explain_function(
    exercise: Exercise,
    case: Case,
    observed: FunctionObservation,
    right: FunctionObservation,
    difference: Difference,
) -> str | None:
    field, path = difference
    if field == "repeatable" and not observed["repeatable"]:
        return f"{NOT_REPEATABLE}."
    if field == "output":
        return _explain_output(exercise, case, observed["output"], right["output"], path)
    if field == "overwritten" and observed.get("overwritten"):
        return "a second call of your code overwrites the output of the first call."
    if field == "own_parameters":
        return _explain_own_parameters(observed.get("own_parameters"), right.get("own_parameters"))
    return None


def _explain_module(
    exercise: Exercise, case: Case, observed: ModuleObservation, right: ModuleObservation, difference: Difference
) -> str | None:
    field, path = difference
    if field == "parameters":
        return _explain_parameters(observed["parameters"], right["parameters"])
    if field == "frozen":
        return _explain_frozen(observed.get("frozen", []), right.get("frozen", []))
    if field == "output_in_training":
        return _explain_training(right)
    if field == "later" and path:
        return f"call {int(path[0]) + 2} of the same module, with different inputs, returns the wrong output."
    if field == "later_in_training":
        return "a later call of the same module, with different inputs and in train mode, returns the wrong output."
    # the parameters loaded, so the module must have been called
    called, expected = cast(FunctionObservation, observed), cast(FunctionObservation, right)
    return _explain_function(exercise, case, called, expected, difference)


def _explain_sampler(case: Case, observed: SamplerObservation, right: SamplerObservation, field: str) -> str | None:
    if field == "repeatable" and not observed.get("repeatable", True):
        return "your code draws different tokens when it is called again with a generator that has the same seed."
    if "frequencies" not in observed:
        return _explain_samples(case, observed)
    if field == "frequencies":
        return _explain_frequencies(observed["frequencies"], right["frequencies"])
    if field == "used_global_generator" and observed["used_global_generator"]:
        return "your code draws from torch's global random generator. Draw only from the argument `generator`."
    if field == "varies_with_seed" and right.get("varies_with_seed") and not observed.get("varies_with_seed"):
        return "generators with different seeds give the same tokens."
    return None


def _explain_own_parameters(own: int | None, expected: int | None) -> str:
    if own is None or expected is None or own > expected:
        return f"you should return {expected or 0} of the model's own parameters; you return {own or 0}."
    return (
        f"of the {expected} parameters that you return, {own} are the model's own. The others contain the same "
        "numbers, but they are different tensors."
    )


def _explain_frozen(observed: Sequence[str], right: Sequence[str]) -> str | None:
    if too_many := [name for name in observed if name not in right]:
        return f"{listed(too_many)} should be trained, but `requires_grad` is False."
    if missing := [name for name in right if name not in observed]:
        return f"{listed(missing)} should be frozen, but `requires_grad` is True."
    return None


def _explain_training(right: ModuleObservation) -> str:
    if distance(right.get("output_in_training"), right.get("output")) <= 1:
        return "your output differs between train mode and eval mode. It should be the same in both."
    return "in train mode your output is wrong."


def _explain_parameters(observed: Mapping[str, list[int]], right: Mapping[str, list[int]]) -> str:
    for name, shape in right.items():
        if name not in observed:
            return f"the parameter `{name}` is missing; yours are {', '.join(observed) or 'none at all'}."
        if observed[name] != shape:
            return f"the parameter `{name}` should have the shape {tuple(shape)}; yours has {tuple(observed[name])}."
    return f"you have more parameters than the exercise asks for: {', '.join(n for n in observed if n not in right)}."


def _explain_output(exercise: Exercise, case: Case, observed: PlainData, right: PlainData, path: Path) -> str:
    if isinstance(right, tuple) and not (isinstance(observed, tuple | list) and len(observed) == len(right)):
        nouns = [exercise.steps.noun_of_part([index]) if exercise.steps else "" for index in range(len(right))]
        which = f": {join_words(nouns)}" if all(nouns) else ""
        return f"you return {_kind(observed)}, but should return {len(right)} values{which}."
    if observed is None:
        return "you return None. Is a `return` missing? (`print(…)` also returns None.)"
    return _explain_value(exercise, case, observed, right, path, named_shapes.output_dimensions(exercise.reference))


def _explain_value(
    exercise: Exercise, case: Case, observed: PlainData, right: PlainData, path: Path, names: Sequence[str] = ()
) -> str:
    """Explain how a value, which is the output or an element of the output, differs from the expected value.

    Args:
        exercise: The exercise.
        case: The case.
        observed: The attempt's value.
        right: The expected value.
        path: Indices and keys leading to the first difference.
        names: Names of the value's dimensions.
    """
    is_normalized = exercise.normalize is not Exercise.normalize
    if isinstance(observed, list) and isinstance(right, list) and is_normalized:
        # Normalizing may have reordered the lists, so an index would be misleading.
        return _explain_unordered(exercise, case, observed, right)
    place: list[int] = []
    while isinstance(observed, tuple | list) and isinstance(right, tuple | list) and path:
        index, *path = path
        place.append(int(index))
        observed, right = observed[place[-1]], right[place[-1]]
    if place:
        names = named_shapes.output_dimensions(exercise.reference, *place) if len(place) == 1 else []
        return f"{_name_of_part(exercise, place)}: {_explain_value(exercise, case, observed, right, path, names)}"
    if isinstance(observed, Mapping) and isinstance(right, Mapping) and "not_plain" not in observed:
        if observed.keys() != right.keys():
            return f"the dict should have the keys {listed(right)}; yours has {listed(observed)}."
        key, *path = path
        return f"`{key}`: {_explain_value(exercise, case, observed[str(key)], right[str(key)], path)}"
    if isinstance(observed, Tensor) and not observed.dim() and not isinstance(right, Tensor):
        observed = observed.item()
    if isinstance(observed, Tensor) and isinstance(right, Tensor):
        return _explain_tensor(exercise, case, observed, right, names)
    if type(observed) is float and type(right) is int:
        return f"it should be the int {right}, but you return the float {observed}."
    if is_normalized and isinstance(right, Mapping) and not isinstance(observed, Mapping):
        return f"you return {_kind(observed)}. Does it have the shape and dtype that the exercise asks for?"
    if _kind(observed) != _kind(right):
        return f"it should be {_kind(right)}, but you return {_kind(observed)}."
    what = "numbers" if _is_number(right) else "values"
    return f"the {what} are wrong.\n{case_rows(exercise, case, observed, right)}"


def _name_of_part(exercise: Exercise, place: Sequence[int]) -> str:
    """Describe an element of the output by its position and by the steps that compute it."""
    *inner, first = [ORDINALS[min(index, len(ORDINALS) - 1)] for index in reversed(place)]
    where = "".join(f"the {ordinal} part of " for ordinal in inner) + f"the {first} value you return"
    noun = exercise.steps.noun_of_part(place) if exercise.steps else ""
    return f"{noun} ({where})" if noun else where


def _explain_tensor(exercise: Exercise, case: Case, observed: Tensor, right: Tensor, names: Sequence[str]) -> str:
    is_normalized = exercise.normalize is not Exercise.normalize
    compared = ". Compared in this form:" if is_normalized else "."
    if (
        observed.shape != right.shape
        and is_normalized
        and max(observed.numel(), right.numel()) <= MAX_DISPLAYED_NUMBERS
    ):
        return f"the output is wrong{compared}\n{case_rows(exercise, case, observed, right)}"
    if observed.shape != right.shape:
        inputs = named_shapes.describe_inputs(exercise.reference, {**case.inputs, **case.keywords})
        expected = named_shapes.name_dimensions(right.shape, names)
        report = f"the shape should be {expected}, but yours is {named_shapes.name_dimensions(observed.shape, [])}."
        return f"{report}\nThe inputs: {inputs}." if inputs else report
    what = "values" if right.dtype == torch.bool else "numbers"
    if observed.dtype != right.dtype:
        report = f"the dtype should be {right.dtype}, but yours is {observed.dtype}"
        if observed.is_complex() or distance(observed.double(), right.double()) <= 1:
            return f"{report}."
        if right.numel() > MAX_DISPLAYED_NUMBERS:
            return f"{report}, and the {what} are also wrong."
        return f"{report}, and the {what} are also wrong.\n{case_rows(exercise, case, observed, right)}"
    relation = f"\n{report}" if not is_normalized and (report := explain_relation(observed, right)) else ""
    if right.numel() > MAX_DISPLAYED_NUMBERS:
        return _explain_largest_difference(exercise, case, observed, right, names) + relation
    return f"the {what} are wrong{compared}\n{case_rows(exercise, case, observed, right)}{relation}"


def _explain_unordered(
    exercise: Exercise, case: Case, observed: Sequence[PlainData], right: Sequence[PlainData]
) -> str:
    """Explain the differences between two lists whose order does not matter."""
    missing, extra = _without_equals(right, observed), _without_equals(observed, right)
    if len(observed) != len(right):
        report = f"it should be {_kind(right)}, but you return {_kind(observed)}"
        if missing and extra:
            return f"{report}."
        return f"{report}: there should {'also' if missing else 'not'} be {_kinds(missing or extra)}."
    pairs = [(one, other) for one in extra for other in missing if _in_common(one, other)]
    if not pairs and len(missing) == 1:
        pairs = [(extra[0], missing[0])]
    if not pairs:
        return f"{len(extra)} of your {len(right)} entries should not be in the list."
    one, other = pairs[0]
    report = _explain_value(exercise, case, one, other, path_to_difference(one, other))
    which = _in_common(one, other)
    if len(right) > 1:
        which = f"in {which or f'one of the {len(right)} entries'}, "
    return f"{which}{report}"


def _without_equals(values: Sequence[PlainData], others: Sequence[PlainData]) -> list[PlainData]:
    """List the values that equal none of the other values. Each other value is matched only once."""
    unmatched, result = list(others), []
    for value in values:
        index = next((i for i, other in enumerate(unmatched) if distance(other, value) <= 1), None)
        if index is None:
            result.append(value)
        else:
            del unmatched[index]
    return result


def _in_common(one: PlainData, other: PlainData) -> str:
    """Describe a dict by the entries that two versions share, or return "" if the versions share no entry."""
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return ""
    shared = [
        f"`{key}` {format_value(value)}"
        for key, value in other.items()
        if isinstance(value, int | float | str) and distance(one.get(key), value) <= 1
    ]
    return f"the entry with {' and '.join(shared)}" if shared else ""


def _explain_largest_difference(
    exercise: Exercise, case: Case, observed: Tensor, right: Tensor, names: Sequence[str]
) -> str:
    a, b = observed.double(), right.double()
    in_tolerances = ((a - b).abs() / (ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * b.abs())).nan_to_num(
        nan=torch.inf, posinf=torch.inf
    )
    in_tolerances = in_tolerances.masked_fill((a == b) | (a.isnan() & b.isnan()), 0.0)
    index = tuple(int(i) for i in torch.unravel_index(in_tolerances.argmax(), in_tolerances.shape))
    off = int((in_tolerances > 1).sum()) if right.is_floating_point() else int((a != b).sum())
    what = "values" if right.dtype == torch.bool else "numbers"
    which = f"all {off}" if off == right.numel() else f"{off} of the {right.numel()}"
    report = f"{which} {what} {'is' if off == 1 else 'are'} wrong. The largest error is at index {list(index)}"
    axes = [name for name in named_shapes.axis_names(len(index), names) if name]
    if axes:
        unnamed = "…, " * (len(axes) < len(index))  # the batch dimensions, which come first
        report += f" ({'dimension' if len(index) == 1 else 'dimensions'} {unnamed}{', '.join(axes)})"
    return f"{report}:\n{case_rows(exercise, case, observed[index], right[index], with_inputs=False)}"


def _explain_samples(case: Case, observed: SamplerObservation) -> str:
    name, rows = next(iter(case.inputs.items()))
    if "range" in observed:
        low, high = observed["range"]
        return f"tokens range from 0 to {rows.shape[-1] - 1}, but yours range from {low} to {high}."
    n_rows = len(rows) * case.n_samples
    report = f"you should return an int64 token for each row of `{name}`, shape ({n_rows},); you return "
    report += _kind(observed["output"])
    return f"{report} and dtype {observed['output'].dtype}." if isinstance(observed["output"], Tensor) else f"{report}."


def _explain_frequencies(observed: Tensor, right: Tensor) -> str:
    never, also = ((observed == 0) & (right > 0)).nonzero(), ((observed > 0) & (right == 0)).nonzero()
    if len(also):
        row, token = also[0].tolist()
        return f"in row {row}, your code draws token {token}, which should never be drawn."
    if len(never):
        row, token = never[0].tolist()
        report = f"in row {row}, your code never draws token {token}."
        return f"{report} It should be drawn in about {right[row, token]:.1%} of all draws."
    row, token = torch.unravel_index((observed - right).abs().argmax(), right.shape)
    report = f"in row {row}, your code draws token {token} in {observed[row, token]:.1%} of all draws."
    return f"{report} It should be about {right[row, token]:.1%}."


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kinds(values: Sequence[PlainData]) -> str:
    """Describe the types of some values, for example ``a tensor of shape (2,) and a tensor of shape (3,)``."""
    return " and ".join(map(_kind, values[:3])) + (f" and {len(values) - 3} more" if len(values) > 3 else "")


def _kind(value: object) -> str:
    if _is_number(value):
        return "a number"
    if isinstance(value, Tensor):
        return f"a tensor of shape {named_shapes.name_dimensions(value.shape, [])}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of length {len(value)}"
    if value is None:
        return "None"
    name = str(value["not_plain"]) if isinstance(value, Mapping) and "not_plain" in value else type(value).__name__
    return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {name}"
