"""An answer in steps, so that a mistake is one changed step, and two mistakes at once are two changed steps.

A step is a function. Its parameters name its inputs: arguments of the answer, earlier steps and, in a module, ``self``.
Its docstring describes what it does and what the result is, and may add a short name of the result for messages. The
last step is the answer::

    def products(queries, keys):
        \"""multiply each query with each key → the products of queries and keys → q·k\"""
        return queries @ keys.mT

    ATTENTION = InSteps(products, scores, weights, output, reference=attention)
    ATTENTION.but(scores=lambda products: products)         # not divided by the root of the width
    ATTENTION.but(keys=lambda keys: keys.detach())          # an argument is read otherwise
    ATTENTION.but(weights=lambda weights: weights.round())  # a step that asks for itself gets its right value
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
MOST_CALLS = 100_000
LARGEST = 1_000_000
"""Maximum number of calls of the functions that steps return, and of numbers that one call returns, in one evaluation.
No answer of a lesson needs more.
"""
MAX_STEP_SIZE = 100_000_000
"""Maximum number of numbers in a step. A larger tensor takes seconds, and whether it meets a time limit then depends on
the machine.
"""


class RanAway(Exception):
    """A changed answer does not terminate, or its result grows without limit."""


class InSteps:
    """An answer in steps.

    Args:
        steps: The steps in order. The docstring of each describes in the imperative what it does.
        reference: The plain answer that the steps are equivalent to: a function, or an ``nn.Module`` with this
            ``forward``.

    Raises:
        ValueError: A parameter of a step is neither an argument nor an earlier step, or a step has an argument's name.
    """

    def __init__(self, *steps: Step, reference: Callable[..., Any]) -> None:
        self.reference = reference
        self.steps = {step.__name__: step for step in steps}
        self.arguments = inspect.signature(getattr(reference, "forward", reference))
        known = {"self", *self.arguments.parameters} if self.is_module else set(self.arguments.parameters)
        for step in steps:
            if (name := step.__name__) in known:
                raise ValueError(f"{reference.__name__} has two values called {name!r}; rename this step")
            if unknown := [need for need in needs(step) if need not in known]:
                raise ValueError(f"the step {name!r} has unknown parameters {unknown}; it can use {sorted(known)}")
            known.add(name)
        self.known = known

    @property
    def is_module(self) -> bool:
        """Whether the answer is an ``nn.Module``."""
        return isinstance(self.reference, type)

    @property
    def last(self) -> str:
        """The name of the step that is the answer."""
        return next(reversed(self.steps))

    @functools.cached_property
    def reached_from(self) -> Mapping[str, Set[str]]:
        """For each step or argument, the names whose values depend on it, including its own."""
        reached = {name: {name} for name in self.known}
        for name, step in self.steps.items():
            for names in reached.values():
                if not names.isdisjoint(needs(step)):
                    names.add(name)
        return reached

    def describe(self, step: str) -> str:
        """Return what a step does, in the imperative."""
        return self._docstring_parts(step)[0].rstrip(".") or step

    def noun(self, name: str) -> str:
        """Return the noun for the value of a step: the part of its docstring up to a colon or a shape.

        For an argument, this is its name.
        """
        if name not in self.steps:
            return f"`{name}`"
        text = self._docstring_parts(name)[1] or f"the result of “{self.describe(name)}”"
        return re.sub(r", \([^)]*\)$", "", text.partition(":")[0].rstrip("."))

    def has_noun(self, name: str) -> bool:
        """Return whether a step's docstring describes its value."""
        return bool(self._docstring_parts(name)[1])

    def short_name(self, name: str) -> str:
        """Return the short name of a step's value, such as "√d_k": the last part of its docstring, or "" if it has
        none.

        For an argument, this is its name.
        """
        return self._docstring_parts(name)[2] if name in self.steps else f"`{name}`"

    def _docstring_parts(self, name: str) -> tuple[str, str, str]:
        """Split a step's docstring at arrows or empty lines into what it does, what its value is, and the value's short
        name.
        """
        parts = re.split(r"\n\n| → ", inspect.getdoc(self.steps[name]) or "")
        action, noun, short, *_ = [" ".join(part.split()) for part in (*parts, "", "")]
        return action, noun, short

    def noun_of_part(self, place: Sequence[int]) -> str:
        """Return the noun for a part of the answer, or "" if the steps do not describe it.

        Args:
            place: The index of the part; if the part is a tuple, too, followed by the index in it, and so on.
        """
        name = self.last
        for index in place:
            made = ast.parse(self.expression(name) or "()", mode="eval").body
            part = made.elts[index] if isinstance(made, ast.Tuple) and index < len(made.elts) else None
            if not isinstance(part, ast.Name) or part.id not in self.steps:
                return ""
            name = part.id
        return self.noun(name)

    def formula(self, name: str) -> str:
        """Return how the value of a step is computed: its full description, or its inputs."""
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
        one = body[0] if len(body) == 1 and isinstance(body[0], ast.Return) else None
        return ast.get_source_segment(lines, one.value) if one and one.value else None

    def ladder(self, name: str) -> tuple[str, ...]:
        """Return two hints on a step: which value it should compute, and the code that computes it."""
        if name not in self.steps:
            return (f"The formula uses `{name}` itself.", f"Use `{name}` unchanged.")
        code, asked = self.expression(name), [need for need in needs(self.steps[name]) if need in self.steps]
        meanings = [f"`{need}` for {self.noun(need).partition(',')[0]}" for need in asked if code and need in code]
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
            changes: The replacement of each step or argument, whose parameters name its inputs as in a step. A
                replacement with the replaced name as a parameter gets its right value.

        Raises:
            ValueError: A change or one of its parameters names a step or argument that does not exist.
        """
        for name, change in changes.items():
            asked = {name, *needs(change)}
            if unknown := sorted(asked - self.known):
                raise ValueError(f"{self.reference.__name__} has no {unknown}; it has {sorted(self.known)}")
        return Variant(self, changes)

    def until(self, name: str) -> "Variant":
        """Return the answer that stops after a step, or that returns an argument."""
        return Variant(self, {}, name)


@dataclass(frozen=True, eq=False)
class Variant:
    """An answer in steps with some steps changed, or which stops early.

    Args:
        of: The right answer.
        changes: The replacements by step or argument.
        result: The name of the step or argument that is returned; None for the last step.
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
        """Return the answer for these arguments, running only the steps that it needs, each once.

        Args:
            bound: The arguments.
            shared: The values shared by variants that are evaluated for the same arguments.
        """
        bound.apply_defaults()
        return _Evaluation(self, bound.arguments, shared).value(self.result or self.of.last)[0]

    def combined(self, other: "Variant") -> "Variant | None":
        """Return the answer with both changes, or None if they cannot be combined.

        A change with the replaced name as a parameter gets the value that the other change computes. Two changes of the
        same step cannot be combined if neither has that parameter.
        """
        changes = {**self.changes, **other.changes}
        for name in self.changes.keys() & other.changes.keys():
            one, two = self.changes[name], other.changes[name]
            if name not in needs(two):
                one, two = two, one
            if name not in needs(two):
                return None
            changes[name] = _one_after_the_other(name, one, two)
        return Variant(self.of, changes)


def _one_after_the_other(name: str, one: Step, two: Step) -> Step:
    """Apply two changes to a step: the second gets the result of the first."""
    asked = tuple(dict.fromkeys([*needs(one), *(need for need in needs(two) if need != name)]))

    def both(*given: Any) -> Any:
        values = dict(zip(asked, given, strict=True))
        values[name] = one(*[values[need] for need in needs(one)])
        return two(*[values[need] for need in needs(two)])

    return asking(both, *asked)


class SharedValues:
    """Values that many variants share when they get the same arguments, each computed once.

    A call is identified by its step and inputs; a value that was changed in place counts as a different value.
    """

    def __init__(self) -> None:
        self.right: dict[InSteps, dict[str, tuple[Any, Hashable]]] = defaultdict(dict)
        """Values of a right answer by name, each with its identity."""
        self._calls: dict[Hashable, tuple[Any, Hashable, Sequence[Any]]] = {}

    def call(self, step: Step, given: Sequence[Any], identities: Sequence[Hashable]) -> tuple[Any, Hashable]:
        """Return the result of a step for inputs with these identities, and its identity; None if an input has no
        identity.
        """
        key = (step, *identities)
        if (kept := self._calls.get(key)) is not None:
            value, same, _ = kept
            if _is_as_it_was(value, same):
                return value, same
        value = _made(step, given)
        same = None if None in identities else identity(value)
        if same is not None:
            self._calls[key] = value, same, given  # keep the inputs alive, or Python may reuse their ids
        return value, same


def _made(step: Step, given: Sequence[Any]) -> Any:
    value = step(*given)
    if isinstance(value, Tensor) and value.numel() > MAX_STEP_SIZE:
        raise RanAway(f"a step returned {value.numel():,} numbers, more than {MAX_STEP_SIZE:,}")
    return _bounded(value) if type(value) is FunctionType else value


def _bounded(function: FunctionType) -> FunctionType:
    """Wrap a step's function to stop infinite loops that call it, and results that would fill the memory."""

    def bounded(*args: Any, **kwargs: Any) -> Any:
        _Evaluation.n_calls += 1
        value = function(*args, **kwargs)
        size = value.numel() if isinstance(value, Tensor) else len(value) if isinstance(value, Sized) else 1
        if _Evaluation.n_calls > MOST_CALLS or size > LARGEST:
            raise RanAway(f"call {_Evaluation.n_calls:,} of a step's function gave {size:,} numbers")
        return value

    return bounded  # type: ignore[return-value]


def _is_as_it_was(value: Any, same: Any) -> bool:
    """Return whether a value still has its identity, which is quicker to compute for a tensor."""
    return value._version == same[1] if type(value) is Tensor else identity(value) == same


def identity(value: Any) -> Hashable:
    """Return an identity that no other value has, and that changes when the value is changed in place; None if there is
    none.
    """
    kind = type(value)
    if kind is Tensor:
        return id(value), value._version
    if kind is tuple or kind is list:
        parts = (kind, *[identity(part) for part in value])
        return None if None in parts else parts
    if value is None or kind in (bool, int, float, str):
        return kind, value
    if isinstance(value, nn.Module):
        return id(value), value.training  # in the other mode, the module is a different function
    return id(value) if kind is FunctionType else None


class _Evaluation:
    """The values of one variant for some arguments, each with an identity if values are shared."""

    n_calls = 0
    """Number of calls of steps' functions since the last evaluation began. Evaluations share functions, but not this
    count.
    """

    def __init__(self, variant: Variant, arguments: Mapping[str, Any], shared: SharedValues | None) -> None:
        _Evaluation.n_calls = 0
        self.steps, self.changes, self.arguments, self.shared = variant.of.steps, variant.changes, arguments, shared
        self.values: dict[str, tuple[Any, Hashable]] = {}
        self.right = {} if shared is None else shared.right[variant.of]
        self.changed = {name for change in variant.changes for name in variant.of.reached_from[change]}

    def value(self, name: str) -> tuple[Any, Hashable]:
        if (found := self.values.get(name)) is None:
            made = self._value(name, self.changes.get(name)) if name in self.changed else self._right(name)
            found = self.values[name] = made
        return found

    def _right(self, name: str) -> tuple[Any, Hashable]:
        """Return a value that no change affects. If values are shared, it is computed once, unless it was changed in
        place.
        """
        found = self.right.get(name)
        if found is None or not _is_as_it_was(*found):
            found = self._value(name, None)
            if found[1] is not None:
                self.right[name] = found
        return found

    def _value(self, name: str, change: Step | None) -> tuple[Any, Hashable]:
        """Return a value, changed or not; a change may use the value that it replaces."""
        if change is None and name in self.arguments:
            value = self.arguments[name]
            return value, None if self.shared is None else identity(value)
        step = self.steps[name] if change is None else change
        given: list[Any] = []
        identities: list[Hashable] = []
        for need in needs(step):  # a plain loop, because this is called a hundred thousand times
            value, same = self._value(need, None) if need == name else self.value(need)
            given.append(value)
            identities.append(same)
        return (_made(step, given), None) if self.shared is None else self.shared.call(step, given, identities)


def _joined(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


@functools.cache
def needs(step: Step) -> tuple[str, ...]:
    """Return the names of a step's inputs."""
    if type(step) is FunctionType and not vars(step) and not step.__code__.co_flags & VARIADIC:
        # not inspect.signature: for thousands of steps, it takes a quarter of the time of all imports
        code = step.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(inspect.signature(step).parameters)


def asking(function: Callable[..., Any], *names: str) -> Step:
    """Return a step with these inputs, which passes them to the function in this order.

    Use it if a function creates a change whose inputs depend on the function's arguments.
    """

    def step(*values: Any) -> Any:
        return function(*values)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    step.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return step
