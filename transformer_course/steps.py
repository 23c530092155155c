"""An answer in steps, so that a mistake is one step done otherwise, and two mistakes at once are two.

A step is a function. It asks, by the names of its parameters, for what it needs: arguments of the answer, earlier
steps, and in a module ``self``. Its docstring says what it does and what the result is, and may add a short name of the
result for messages. The last step is the answer::

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
"""In one evaluation, the functions that steps return may be called as often, and return as many numbers at a time; more
is no answer of a lesson."""


class RanAway(Exception):
    """A changed answer goes on, or grows, without end."""


class InSteps:
    """An answer in steps.

    Args:
        steps: The steps in order; the docstring of each says in the imperative what it does.
        reference: The plain answer that the steps spell out: a function, or an ``nn.Module`` with this ``forward``.

    Raises:
        ValueError: A step asks for what is neither an argument nor an earlier step, or has an argument's name.
    """

    def __init__(self, *steps: Step, reference: Callable[..., Any]) -> None:
        self.reference = reference
        self.steps = {step.__name__: step for step in steps}
        self.arguments = inspect.signature(getattr(reference, "forward", reference))
        known = {"self", *self.arguments.parameters} if self.is_module else set(self.arguments.parameters)
        for step in steps:
            if (name := step.__name__) in known:
                raise ValueError(f"{reference.__name__} has two values called {name!r}; call this step otherwise")
            if unknown := [need for need in needs(step) if need not in known]:
                raise ValueError(f"the step {name!r} asks for {unknown}; there are {sorted(known)}")
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
        """For each step or argument, the names whose values depend on it; its own is one."""
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
        """Return what the value of a step is, as a noun: what its docstring says of it, up to colon or shape.

        An argument is called by its name.
        """
        if name not in self.steps:
            return f"`{name}`"
        text = self._docstring_parts(name)[1] or f"the result of “{self.describe(name)}”"
        return re.sub(r", \([^)]*\)$", "", text.partition(":")[0].rstrip("."))

    def has_noun(self, name: str) -> bool:
        """Return whether a step's docstring tells what its value is."""
        return bool(self._docstring_parts(name)[1])

    def short_name(self, name: str) -> str:
        """Return the short name of a step's value, such as "√d_k": the last part of its docstring; "" if none.

        An argument is called by its name.
        """
        return self._docstring_parts(name)[2] if name in self.steps else f"`{name}`"

    def _docstring_parts(self, name: str) -> tuple[str, str, str]:
        """Return what a step does, what its value is, and the short name of that: arrows or empty lines divide them."""
        parts = re.split(r"\n\n| → ", inspect.getdoc(self.steps[name]) or "")
        action, noun, short, *_ = [" ".join(part.split()) for part in (*parts, "", "")]
        return action, noun, short

    def noun_of_part(self, place: Sequence[int]) -> str:
        """Return what a part of the answer is, as a noun; "" where the steps do not tell.

        Args:
            place: The index of the part, and where that is a tuple too, the index in that, and so on.
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
        """Return how the value of a step is made: its whole description, or what it needs."""
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
        """Return the expression that a step returns, if that is all it does."""
        lines = textwrap.dedent(inspect.getsource(self.steps[name]))
        body = cast(ast.FunctionDef, ast.parse(lines).body[0]).body[1:]
        one = body[0] if len(body) == 1 and isinstance(body[0], ast.Return) else None
        return ast.get_source_segment(lines, one.value) if one and one.value else None

    def ladder(self, name: str) -> tuple[str, ...]:
        """Return two hints on a step: which value is needed, and the code that computes it."""
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
        """Return the answer with some steps done otherwise, or arguments read otherwise.

        Args:
            changes: For each step or argument its replacement, which asks for what it needs as a step does. One that
                asks for the very thing it replaces gets its right value.

        Raises:
            ValueError: A change is of no step or argument, or asks for one that does not exist.
        """
        for name, change in changes.items():
            asked = {name, *needs(change)}
            if unknown := sorted(asked - self.known):
                raise ValueError(f"{self.reference.__name__} has no {unknown}; there are {sorted(self.known)}")
        return Variant(self, changes)

    def until(self, name: str) -> "Variant":
        """Return the answer that stops after a step, or that hands an argument back."""
        return Variant(self, {}, name)


@dataclass(frozen=True, eq=False)
class Variant:
    """An answer in steps, of which some are done otherwise, or which stops early.

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
        """The variant as a learner would hand it in: a function, or a class made from the reference."""
        if self.of.is_module:

            def forward(module: nn.Module, *inputs: Any, **keywords: Any) -> Any:
                return self.evaluate(self.of.arguments.bind(module, *inputs, **keywords))

            return type(self.of.reference.__name__, (cast(type, self.of.reference),), {"forward": forward})

        def function(*inputs: Any, **keywords: Any) -> Any:
            return self.evaluate(self.of.arguments.bind(*inputs, **keywords))

        function.__name__ = self.of.reference.__name__
        return function

    def evaluate(self, bound: inspect.BoundArguments, shared: "SharedValues | None" = None) -> Any:
        """Return the answer for these arguments. Only the steps that it needs are run, each once.

        Args:
            bound: The arguments.
            shared: What variants share that are evaluated for the same arguments.
        """
        bound.apply_defaults()
        return _Evaluation(self, bound.arguments, shared).value(self.result or self.of.last)[0]

    def combined(self, other: "Variant") -> "Variant | None":
        """Return the answer that makes both changes.

        A change that asks for what it replaces gets what the other change makes of it. Where both change the same step
        and neither asks for it, there is no such answer: None.
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
    """Make the change of a step that hands what the first change makes of it to the second."""
    asked = tuple(dict.fromkeys([*needs(one), *(need for need in needs(two) if need != name)]))

    def both(*given: Any) -> Any:
        values = dict(zip(asked, given, strict=True))
        values[name] = one(*[values[need] for need in needs(one)])
        return two(*[values[need] for need in needs(two)])

    return asking(both, *asked)


class SharedValues:
    """Values that many variants have in common when they get the same arguments: each is computed once.

    What identifies a call is the step and what it is given; what was written into is another value.
    """

    def __init__(self) -> None:
        self.right: dict[InSteps, dict[str, tuple[Any, Hashable]]] = defaultdict(dict)
        """Values of a right answer by name, each with its identity."""
        self._calls: dict[Hashable, tuple[Any, Hashable, Sequence[Any]]] = {}

    def call(self, step: Step, given: Sequence[Any], identities: Sequence[Hashable]) -> tuple[Any, Hashable]:
        """Return what a step makes of values with these identities, and its identity; None if one of them has none."""
        key = (step, *identities)
        if (kept := self._calls.get(key)) is not None:
            value, same, _ = kept
            if _is_as_it_was(value, same):
                return value, same
        value = _made(step, given)
        same = None if None in identities else identity(value)
        if same is not None:
            self._calls[key] = value, same, given  # what is given must live on, or its id may come again
        return value, same


def _made(step: Step, given: Sequence[Any]) -> Any:
    value = step(*given)
    return _bounded(value) if type(value) is FunctionType else value


def _bounded(function: FunctionType) -> FunctionType:
    """Return a step's function that stops loops which call it without end, or fill the memory with what it returns."""

    def bounded(*args: Any, **kwargs: Any) -> Any:
        _Evaluation.n_calls += 1
        value = function(*args, **kwargs)
        size = value.numel() if isinstance(value, Tensor) else len(value) if isinstance(value, Sized) else 1
        if _Evaluation.n_calls > MOST_CALLS or size > LARGEST:
            raise RanAway(f"call {_Evaluation.n_calls:,} of a step's function gave {size:,} numbers")
        return value

    return bounded  # type: ignore[return-value]


def _is_as_it_was(value: Any, same: Any) -> bool:
    """Return whether a value still has the identity that it had: for a tensor, that asks for less."""
    return value._version == same[1] if type(value) is Tensor else identity(value) == same


def identity(value: Any) -> Hashable:
    """Return what tells a value from all others, and from itself once it is written into; None if nothing does."""
    kind = type(value)
    if kind is Tensor:
        return id(value), value._version
    if kind is tuple or kind is list:
        parts = (kind, *[identity(part) for part in value])
        return None if None in parts else parts
    if value is None or kind in (bool, int, float, str):
        return kind, value
    if isinstance(value, nn.Module):
        return id(value), value.training  # in its other mode, it is another function
    return id(value) if kind is FunctionType else None


class _Evaluation:
    """The values of one variant for some arguments, each with its identity where values are shared."""

    n_calls = 0
    """Number of calls of steps' functions since the last evaluation began: evaluations share functions, not calls."""

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
        """Return a value that no change reaches: where values are shared it is made once, unless it is written into."""
        found = self.right.get(name)
        if found is None or not _is_as_it_was(*found):
            found = self._value(name, None)
            if found[1] is not None:
                self.right[name] = found
        return found

    def _value(self, name: str, change: Step | None) -> tuple[Any, Hashable]:
        """Return a value, changed or as it would be; a change may ask for the very thing it replaces."""
        if change is None and name in self.arguments:
            value = self.arguments[name]
            return value, None if self.shared is None else identity(value)
        step = self.steps[name] if change is None else change
        given: list[Any] = []
        identities: list[Hashable] = []
        for need in needs(step):  # a loop, for this is called a hundred thousand times
            value, same = self._value(need, None) if need == name else self.value(need)
            given.append(value)
            identities.append(same)
        return (_made(step, given), None) if self.shared is None else self.shared.call(step, given, identities)


def _joined(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


@functools.cache
def needs(step: Step) -> tuple[str, ...]:
    """Return the names of what a step asks for."""
    if type(step) is FunctionType and not vars(step) and not step.__code__.co_flags & VARIADIC:
        code = step.__code__  # there are thousands, and their signatures take a quarter of the time of all imports
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return tuple(inspect.signature(step).parameters)


def asking(function: Callable[..., Any], *names: str) -> Step:
    """Return a step that asks for these and hands them to the function in this order.

    For changes that are made by a function, where the names depend on its arguments.
    """

    def step(*values: Any) -> Any:
        return function(*values)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    step.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])  # type: ignore[attr-defined]
    return step
