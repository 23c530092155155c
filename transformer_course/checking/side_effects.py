"""Detect side effects of an answer with correct outputs: blocked gradients and changed arguments."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from torch import Tensor

from transformer_course.checking.expected_behavior import Behavior
from transformer_course.checking.formatting import listed_layers
from transformer_course.checking.tolerance import GRADIENTS, gradient_distance, single_gradient_distance
from transformer_course.running.observation import Observation
from transformer_course.running.observe import observe
from transformer_course.steps import Step

CUTS_IN_CODE = {
    "no_grad": "`torch.no_grad()`",
    "inference_mode": "`torch.inference_mode()`",
    "data": "`.data`",
    "tensor": "`torch.tensor(…)`",
    "as_tensor": "`torch.as_tensor(…)`",
}
"""The code of operations that block gradients. Operations that are not listed here are methods."""


def is_cut_entirely(observed: Sequence[Observation]) -> bool:
    """Return whether no gradient flows at all, as in an answer written in plain Python or numpy."""
    return not any(gradient is not None for observation in observed for _, gradient in _gradients(observation))


def changed_arguments(observed: Sequence[Observation], expected: Sequence[Observation]) -> list[str]:
    """List the arguments that a call should not have changed in place."""
    found: dict[str, None] = {}
    for observation, right in zip(observed, expected, strict=False):
        changed: object = observation.get("changed")
        should: object = right.get("changed")
        if isinstance(changed, list) and isinstance(should, list):
            found |= dict.fromkeys(name for name in changed if isinstance(name, str) and name not in should)
    return list(found)


def describe_changes(changed: Sequence[str]) -> str:
    """Describe changed arguments in a clause: modified tensors, and models left in a different mode."""
    models = [name.removesuffix(".training") for name in changed if name.endswith(".training")]
    written = [name for name in changed if not name.endswith(".training")]
    needed = "them" if len(written) > 1 else "it"
    clauses = (
        [f"it changes {listed_layers(written)} in place, although the caller may still need {needed}"]
        if written
        else []
    )
    clauses += (
        [f"it leaves {listed_layers(models)} in a different mode (training or eval) than it found it in"]
        if models
        else []
    )
    return f"your code {', and '.join(clauses).removeprefix('it ')}"


def explain_gradients(known: Behavior, observed: Sequence[Observation], changed: Sequence[str] = ()) -> str:
    """Explain which gradients are missing or wrong, where backpropagation stops, and which operation may block it.

    Args:
        known: The expected behavior.
        observed: Observations of the attempt.
        changed: Arguments that the attempt writes into. The message already describes them. A wrong gradient of such an
            argument does not mean that the gradient is blocked, because the gradient belongs to the overwritten values.
    """
    lost, wrong = _wrong_gradients(observed, known.expected)
    begin = "Also," if changed else "Your numbers are right, but"
    if problem := backward_problem(observed):
        return f"{begin} torch cannot compute the gradients: {problem}."
    if not lost and not wrong:
        return ""
    where, cuts = _cut_step(known, observed), _cuts(observed)
    if lost and remembers_a_call(observed):
        return (
            f"{begin} your second call returns the tensor of the first call, so your code stores it between calls. No "
            f"gradient reaches {listed_layers(lost)}."
        )
    if lost:
        sentences = [f"{begin} no gradient reaches {listed_layers(lost)}."]
    elif not all(
        _is_finite(gradient) for observation in observed for name, gradient in _gradients(observation) if name in wrong
    ):
        return f"{begin} a gradient of nan or infinity reaches {listed_layers(wrong)}."
    elif (where or cuts) and not set(changed) & set(wrong):
        sentences = [f"{begin} only part of the gradient reaches {listed_layers(wrong)}: one of its paths is cut."]
    else:
        return f"{begin} the gradient that reaches {listed_layers(wrong)} is wrong."
    if where:
        sentences.append(where)
    if cuts:
        found = [CUTS_IN_CODE.get(cut, f"`.{cut}()`") for cut in cuts]
        sentences.append(f"{' or '.join(found)} cuts the gradient.")
    return " ".join(sentences)


def remembers_a_call(observed: Sequence[Observation]) -> bool:
    """Return whether a second call returned the first call's tensor, so the second call's inputs get no gradient."""
    return any(True for _ in _remarks(observed, "remembers"))


def backward_problem(observed: Sequence[Observation]) -> str | None:
    """Return the reason why torch cannot compute gradients, such as a tensor modified in place, or None."""
    problem = next((problem for problem in _remarks(observed, "backward") if isinstance(problem, str)), None)
    if problem is None:
        return None
    if "modified by an inplace operation" in problem:
        return "they depend on values that your code overwrites in place"
    return problem.partition(" Hint:")[0].rstrip(". ")


def lost_gradients(observed: Sequence[Observation], expected: Sequence[Observation]) -> list[str]:
    """List the arguments and parameters that receive no gradient but should."""
    return _wrong_gradients(observed, expected)[0]


def unused_inputs(observed: Sequence[Observation], expected: Sequence[Observation]) -> list[str]:
    """List the arguments and modules without any effect on the output, if other arguments have an effect.

    An unused argument receives no gradient at all. Frozen parameters are exempt because they never receive a gradient.
    If the first call caches values, the list is empty, because gradients are measured in the second call.
    """
    if any(True for _ in _remarks(observed, "keeps")):
        return []
    frozen = {_owner(name) for observation in observed for name in cast(Any, observation).get("frozen", ())}
    wanted: dict[str, None] = {}
    reached: set[str] = set()
    for observation, right in zip(observed, expected, strict=False):
        wanted |= {_owner(name): None for name, gradient in _gradients(right) if gradient is not None}
        reached |= {_owner(name) for name, gradient in _gradients(observation) if gradient is not None}
    return [name for name in wanted if name not in reached and name not in frozen] if reached else []


def _owner(name: str) -> str:
    """Return the argument or module that a gradient's name belongs to."""
    return name.partition(".")[0]


def _wrong_gradients(observed: Sequence[Observation], expected: Sequence[Observation]) -> tuple[list[str], list[str]]:
    """List the names whose gradient is missing and the names whose gradient differs."""
    arrives: dict[str, bool] = {}
    for observation, right in zip(observed, expected, strict=False):
        if gradient_distance(observation, right) <= 1:
            continue
        found = dict(_gradients(observation))
        for name, gradient in _gradients(right):
            if not isinstance(gradient, Tensor) or not gradient.any():
                continue
            received = found.get(name)
            if single_gradient_distance(received, gradient) > 1:
                is_nonzero = isinstance(received, Tensor) and bool(received.any())
                arrives[name] = arrives.get(name, False) or is_nonzero
    return [name for name in arrives if not arrives[name]], [name for name in arrives if arrives[name]]


def _is_finite(gradient: object) -> bool:
    return not isinstance(gradient, Tensor) or bool(gradient.isfinite().all())


def _gradients(observation: Observation) -> Iterator[tuple[str, object]]:
    for kind in GRADIENTS:
        found = observation.get(kind)
        yield from found.items() if isinstance(found, Mapping) else ()


def _cut_step(known: Behavior, observed: Sequence[Observation]) -> str | None:
    """Describe the step whose result, if detached, reproduces the observed gradients, or return None.

    All steps are tried on the first case that shows the problem, and the steps that fit are tried on the second such
    case. If several consecutive steps fit, the last step is reported. An argument may also be detached before the first
    step.
    """
    steps = known.exercise.steps
    if steps is None:
        return None
    pairs = enumerate(zip(observed, known.expected, strict=False))
    faulty = [index for index, pair in pairs if gradient_distance(*pair) > 1][:2]
    left = [name for name in [*steps.arguments.parameters, *steps.steps] if name not in ("self", steps.last)]
    for index in faulty:
        left = [name for name in left if gradient_distance(observed[index], _cut_off(known, name, index)) <= 1]
    if not faulty or not left or left[-1] in steps.arguments.parameters:
        return None  # the message already mentions the argument
    where = "where" if len(left) == 1 else "at or before the point where"
    return f"Backpropagation stops {where} you {steps.describe(left[-1])}."


def _cut_off(known: Behavior, name: str, index: int) -> Observation:
    """Return the reference's observations on a case with an argument or the result of a step detached."""
    steps = known.exercise.steps
    assert steps is not None
    case = known.cases[index]
    return known.normalized([observe(steps.but(**{name: _detached(name)}).attempt, case)], [case])[0]


def _detached(name: str) -> Step:
    """Return a replacement for a step that also detaches its result from the graph."""

    def cut(value: object) -> object:
        if isinstance(value, Tensor):
            return value.detach()
        return type(value)(map(cut, value)) if isinstance(value, list | tuple) else value

    scope: dict[str, object] = {"cut": cut}
    exec(f"change = lambda {name}: cut({name})", scope)  # a replacement's parameter names select its inputs
    return scope["change"]  # type: ignore[return-value]


def _cuts(observed: Sequence[Observation]) -> list[str]:
    """List the operations in the attempt that may block gradients."""
    found = next((cuts for cuts in _remarks(observed, "cuts") if isinstance(cuts, list)), [])
    return [cut for cut in found if isinstance(cut, str)]


def _remarks(observed: Sequence[Observation], key: str) -> Iterator[object]:
    """Yield the remarks with a key; they may come from an untrusted process."""
    for observation in observed:
        remarks: object = observation.get("remarks")
        if isinstance(remarks, Mapping) and remarks.get(key):
            yield remarks[key]
