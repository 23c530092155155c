"""Represent an answer as steps, so that a mistake is one changed step, and two mistakes are two changed steps.

A step is a function. Its parameters name its inputs: arguments of the answer, earlier steps and, in a module, ``self``.
Its docstring describes what the step does and what the result is, and may add a short name of the result for messages.
The last step computes the answer::

    def products(queries, keys):
        \"""multiply each query with each key → the products of queries and keys → q·k\"""
        return queries @ keys.mT

    ATTENTION = InSteps(products, scores, weights, output, reference=attention)
    ATTENTION.but(scores=lambda products: products)         # does not divide by √d_k
    ATTENTION.but(keys=lambda keys: keys.detach())          # changes an argument before all steps
    ATTENTION.but(weights=lambda weights: weights.round())  # receives the right value of the replaced step
"""

import ast
import functools
import inspect
import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, cast

from torch import Tensor, nn

Step = Callable[..., Any]
VARIADIC = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
MAX_CALLS = 100_000
MAX_RESULT_SIZE = 1_000_000
"""Limits for the functions that steps return: number of calls in one evaluation, and size of a result. No answer in a
lesson exceeds these limits.
"""
MAX_STEP_SIZE = 100_000_000
"""Maximum number of elements in the result of a step. Computing a larger tensor takes seconds, and whether it finishes
within a time limit would depend on the machine.
"""


class RunawayAnswer(Exception):
    """Raised if a changed answer does not terminate, or if its result grows without limit."""


class InSteps:
    """An answer in steps.

    Args:
        steps: The steps in order. The docstring of a step describes the step in the imperative.
        reference: A plain answer that is equivalent to the steps: a function, or an ``nn.Module`` with an equivalent
            ``forward``.

    Raises:
        ValueError: A parameter of a step is neither an argument nor an earlier step, or two steps or arguments have the
            same name.
    """

    def __init__(self, *steps: Step, reference: Callable[..., Any]) -> None:
        self.reference = reference
        self.steps = {step.__name__: step for step in steps}
        self.arguments = inspect.signature(getattr(reference, "forward", reference))
        known = {"self", *self.arguments.parameters} if self.is_module else set(self.arguments.parameters)
        for step in steps:
            if (name := step.__name__) in known:
                raise ValueError(f"{reference.__name__} has two steps or arguments called {name!r}; rename the step")
            if unknown := [need for need in needs(step) if need not in known]:
                raise ValueError(f"the step {name!r} has unknown parameters {unknown}; choose from {sorted(known)}")
            known.add(name)
        self.known = known

    @property
    def is_module(self) -> bool:
        """Whether the answer is an ``nn.Module``."""
        return isinstance(self.reference, type)

    @property
    def last(self) -> str:
        """The name of the last step, which returns the answer."""
        return next(reversed(self.steps))

    @functools.cached_property
    def reached_from(self) -> Mapping[str, Set[str]]:
        """For each step or argument, the names of all steps and arguments that depend on it, including its own name."""
        reached = {name: {name} for name in self.known}
        for name, step in self.steps.items():
            for names in reached.values():
                if not names.isdisjoint(needs(step)):
                    names.add(name)
        return reached

    def describe(self, step: str) -> str:
        """Return the description of what a step does, in the imperative."""
        return self._docstring_parts(step)[0].rstrip(".") or step

    def noun(self, name: str) -> str:
        """Return the noun for the value of a step: the second part of its docstring, up to a colon or a shape.

        For an argument, return its name.
        """
        if name not in self.steps:
            return f"`{name}`"
        text = self._docstring_parts(name)[1] or f"the result of “{self.describe(name)}”"
        return re.sub(r", \([^)]*\)$", "", text.partition(":")[0].rstrip("."))

    def has_noun(self, name: str) -> bool:
        """Return whether a step's docstring describes its value."""
        return bool(self._docstring_parts(name)[1])

    def short_name(self, name: str) -> str:
        """Return the short name of a step's value, such as "√d_k", or "" if its docstring has none.

        For an argument, return its name.
        """
        return self._docstring_parts(name)[2] if name in self.steps else f"`{name}`"

    def _docstring_parts(self, name: str) -> tuple[str, str, str]:
        """Split a step's docstring, at arrows or empty lines, into the action, the noun, and the short name."""
        parts = re.split(r"\n\n| → ", inspect.getdoc(self.steps[name]) or "")
        action, noun, short, *_ = [" ".join(part.split()) for part in (*parts, "", "")]
        return action, noun, short

    def noun_of_part(self, place: Sequence[int]) -> str:
        """Return the noun for an item of the answer, which is a tuple, or "" if the steps do not describe the item.

        Args:
            place: The index of the item, followed by further indices if the item is also a tuple.
        """
        name = self.last
        for index in place:
            result = ast.parse(self.expression(name) or "()", mode="eval").body
            part = result.elts[index] if isinstance(result, ast.Tuple) and index < len(result.elts) else None
            if not isinstance(part, ast.Name) or part.id not in self.steps:
                return ""
            name = part.id
        return self.noun(name)

    def formula(self, name: str) -> str:
        """Describe the value of a step: with its full noun or, if the noun is short, with the noun and the inputs."""
        text = self._docstring_parts(name)[1]
        *others, last = [self.noun(need) for need in needs(self.steps[name]) if need != "self"] or [""]
        needed = f"{', '.join(others)}{',' if len(others) > 1 else ''} and {last}" if others else last
        if text and (":" in text or not needed):
            return text.rstrip(".")
        return f"{self.noun(name)}, computed from {needed}" if needed else self.noun(name)

    def code(self, name: str) -> str:
        """Return the code of a step, without its docstring."""
        lines = textwrap.dedent(inspect.getsource(self.steps[name])).splitlines()
        tree = ast.parse("\n".join(lines)).body[0]
        assert isinstance(tree, ast.FunctionDef)
        return "\n".join([lines[0], *lines[tree.body[1].lineno - 1 :]])

    def expression(self, name: str) -> str | None:
        """Return the expression that a step returns, if its body is a single return statement."""
        lines = textwrap.dedent(inspect.getsource(self.steps[name]))
        body = cast(ast.FunctionDef, ast.parse(lines).body[0]).body[1:]
        statement = body[0] if len(body) == 1 else None
        if not isinstance(statement, ast.Return) or statement.value is None:
            return None
        return ast.get_source_segment(lines, statement.value)

    def step_hints(self, name: str) -> tuple[str, ...]:
        """Return two hints about a step: which value it should compute, and the code that computes the value."""
        if name not in self.steps:
            return (f"The formula uses `{name}` itself.", f"Use `{name}` unchanged.")
        code, inputs = self.expression(name), [need for need in needs(self.steps[name]) if need in self.steps]
        meanings = [f"`{need}` for {self.noun(need).partition(',')[0]}" for need in inputs if code and need in code]
        names = f", with {_joined(meanings)}" if meanings else ""
        as_code = f"In code: `{code}`{names}." if code and "\n" not in code and "`" not in code else ""
        action = self.describe(name)
        return (f"You need {self.formula(name)}.", as_code or f"{action[:1].upper()}{action[1:]}.")

    def values(self, bound: inspect.BoundArguments) -> dict[str, Any]:
        """Return the right values of all steps and arguments, in order."""
        bound.apply_defaults()
        values = dict(bound.arguments)
        for name, step in self.steps.items():
            values[name] = step(*[values[need] for need in needs(step)])
        return values

    def but(self, **changes: Step) -> "Variant":
        """Return the answer with some steps or arguments changed.

        Args:
            changes: The replacement of each step or argument. Its parameters name its inputs, as in a step. A
                replacement that has the replaced name as a parameter receives the right value of that name.

        Raises:
            ValueError: A change or one of its parameters names a step or argument that does not exist.
        """
        for name, change in changes.items():
            names = {name, *needs(change)}
            if unknown := sorted(names - self.known):
                raise ValueError(f"{self.reference.__name__} has no {unknown}; choose from {sorted(self.known)}")
        return Variant(self, changes)

    def until(self, name: str) -> "Variant":
        """Return the answer that stops after a step, or that returns one of its arguments."""
        return Variant(self, {}, name)


@dataclass(frozen=True, eq=False)
class Variant:
    """An answer in steps with some changed steps, or an answer that stops early.

    Args:
        of: The right answer.
        changes: The replacement of each changed step or argument.
        result: The name of the step or argument to return, or None for the last step.
    """

    of: InSteps
    changes: Mapping[str, Step] = field(default_factory=dict)
    result: str | None = None

    @functools.cached_property
    def attempt(self) -> Callable[..., Any]:
        """The variant as a learner would submit it: a function, or a class derived from the reference."""
        if self.of.is_module:

            def forward(module: nn.Module, *inputs: Any, **keywords: Any) -> Any:
                return self.evaluate(self.of.arguments.bind(module, *inputs, **keywords))

            return type(self.of.reference.__name__, (cast(type, self.of.reference),), {"forward": forward})

        def function(*inputs: Any, **keywords: Any) -> Any:
            return self.evaluate(self.of.arguments.bind(*inputs, **keywords))

        function.__name__ = self.of.reference.__name__
        return function

    def evaluate(self, bound: inspect.BoundArguments, shared: "SharedValues | None" = None) -> Any:
        """Return the answer for some arguments. Only the required steps run, and each step runs once.

        Args:
            bound: The arguments.
            shared: The values that variants evaluated for the same arguments share.
        """
        bound.apply_defaults()
        return _Evaluation(self, bound.arguments, shared).value(self.result or self.of.last)[0]

    def combined(self, other: "Variant") -> "Variant | None":
        """Return the answer with the changes of both variants, or None if the changes cannot be combined.

        If both variants change the same step, one of the changes must have the replaced name as a parameter. This
        change receives the result of the other change.
        """
        changes = {**self.changes, **other.changes}
        for name in self.changes.keys() & other.changes.keys():
            first, second = self.changes[name], other.changes[name]
            if name not in needs(second):
                first, second = second, first
            if name not in needs(second):
                return None
            changes[name] = _chain(name, first, second)
        return Variant(self.of, changes)


def _chain(name: str, first: Step, second: Step) -> Step:
    """Return a step that applies two changes to the same step. The second change receives the result of the first."""
    inputs = tuple(dict.fromkeys([*needs(first), *(need for need in needs(second) if need != name)]))

    def both(*given: Any) -> Any:
        values = dict(zip(inputs, given, strict=True))
        values[name] = first(*[values[need] for need in needs(first)])
        return second(*[values[need] for need in needs(second)])

    return with_inputs(both, *inputs)


class SharedValues:
    """A cache of values for variants that are evaluated for the same arguments.

    A call is identified by its step and inputs. A value that was changed in place counts as a different value.
    """

    def __init__(self) -> None:
        self.right: dict[InSteps, dict[str, tuple[Any, Hashable]]] = defaultdict(dict)
        """The values of each right answer by name, each with its identity."""
        self._calls: dict[Hashable, tuple[Any, Hashable, Sequence[Any]]] = {}

    def call(self, step: Step, given: Sequence[Any], identities: Sequence[Hashable]) -> tuple[Any, Hashable]:
        """Return the result of a step and its identity, which is None if an input has no identity."""
        key = (step, *identities)
        if (cached := self._calls.get(key)) is not None:
            value, value_identity, _ = cached
            if _is_unchanged(value, value_identity):
                return value, value_identity
        value = _run(step, given)
        value_identity = None if None in identities else identity(value)
        if value_identity is not None:
            # Keep the inputs alive, because Python could reuse their ids for other objects.
            self._calls[key] = value, value_identity, given
        return value, value_identity


def _run(step: Step, given: Sequence[Any]) -> Any:
    value = step(*given)
    if isinstance(value, Tensor) and value.numel() > MAX_STEP_SIZE:
        raise RunawayAnswer(f"a step returned {value.numel():,} numbers; the limit is {MAX_STEP_SIZE:,}")
    return _bounded(value) if type(value) is FunctionType else value


def _bounded(function: FunctionType) -> FunctionType:
    """Wrap a function that a step returned, to stop infinite loops that call it and results that are too large."""

    def bounded(*args: Any, **kwargs: Any) -> Any:
        _Evaluation.n_calls += 1
        value = function(*args, **kwargs)
        size = value.numel() if isinstance(value, Tensor) else len(value) if isinstance(value, Sized) else 1
        if _Evaluation.n_calls > MAX_CALLS:
            raise RunawayAnswer(f"functions returned by steps were called more than {MAX_CALLS:,} times")
        if size > MAX_RESULT_SIZE:
            raise RunawayAnswer(f"a step's function returned {size:,} numbers; the limit is {MAX_RESULT_SIZE:,}")
        return value

    return bounded  # type: ignore[return-value]


def _is_unchanged(value: Any, value_identity: Any) -> bool:
    """Return whether a value still has its identity. For a tensor, comparing its version is sufficient and faster."""
    return value._version == value_identity[1] if type(value) is Tensor else identity(value) == value_identity


def identity(value: Any) -> Hashable:
    """Return an identity that is unique to a value and changes when the value is changed in place, or None."""
    kind = type(value)
    if kind is Tensor:
        return id(value), value._version
    if kind is tuple or kind is list:
        parts = (kind, *[identity(part) for part in value])
        return None if None in parts else parts
    if value is None or kind in (bool, int, float, str):
        return kind, value
    if isinstance(value, nn.Module):
        if getattr(value, "is_trained", False):
            return None  # each call changes its parameters
        return id(value), value.training  # a module computes a different function in train mode
    return id(value) if kind is FunctionType else None


class _Evaluation:
    """The values of a variant for some arguments. If values are shared, each value has an identity."""

    n_calls = 0
    """Number of calls to functions that steps returned, since the last evaluation began. This is a class attribute,
    because evaluations share these functions.
    """

    def __init__(self, variant: Variant, arguments: Mapping[str, Any], shared: SharedValues | None) -> None:
        _Evaluation.n_calls = 0
        self.steps, self.changes, self.arguments, self.shared = variant.of.steps, variant.changes, arguments, shared
        self.values: dict[str, tuple[Any, Hashable]] = {}
        self.right = {} if shared is None else shared.right[variant.of]
        self.changed = {name for change in variant.changes for name in variant.of.reached_from[change]}

    def value(self, name: str) -> tuple[Any, Hashable]:
        if (found := self.values.get(name)) is None:
            is_changed = name in self.changed
            found = self._value(name, self.changes.get(name)) if is_changed else self._right(name)
            self.values[name] = found
        return found

    def _right(self, name: str) -> tuple[Any, Hashable]:
        """Return a value that no change affects. A shared value is computed again only if it was changed in place."""
        found = self.right.get(name)
        if found is None or not _is_unchanged(*found):
            found = self._value(name, None)
            if found[1] is not None:
                self.right[name] = found
        return found

    def _value(self, name: str, change: Step | None) -> tuple[Any, Hashable]:
        """Return the value of a step or argument, or of the change that replaces the step."""
        if change is None and name in self.arguments:
            value = self.arguments[name]
            return value, None if self.shared is None else identity(value)
        step = self.steps[name] if change is None else change
        given: list[Any] = []
        identities: list[Hashable] = []
        for need in needs(step):  # a plain loop is faster here, and this code runs 100,000 times
            # a replacement that takes its own name as a parameter receives the step's original value
            value, value_identity = self._value(need, None) if need == name else self.value(need)
            given.append(value)
            identities.append(value_identity)
        return (_run(step, given), None) if self.shared is None else self.shared.call(step, given, identities)


def _joined(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


@functools.cache
def needs(step: Step) -> tuple[str, ...]:
    """Return the names of a step's inputs, which are its parameters."""
    if type(step) is FunctionType and not vars(step) and not step.__code__.co_flags & VARIADIC:
        # inspect.signature would take a quarter of the time of all imports, because there are thousands of steps
        code = step.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(inspect.signature(step).parameters)


def with_inputs(function: Callable[..., Any], *names: str) -> Step:
    """Return a step with the given input names that passes its inputs to a function in the same order.

    Use it in a function that creates changes whose inputs depend on the function's arguments.
    """

    def step(*values: Any) -> Any:
        return function(*values)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    step.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return step
