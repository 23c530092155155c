"""An answer in steps, so that a mistake is one step done otherwise, and two mistakes at once are two.

A step is a function. It asks, by the names of its parameters, for what it needs: arguments of the answer, earlier
steps, and in a module ``self``. The last step is the answer::

    def products(queries, keys):
        \"""multiply each query with each key\"""
        return queries @ keys.mT

    ATTENTION = InSteps(products, scores, weights, output, reference=attention)
    ATTENTION.but(scores=lambda products: products)         # not divided by the root of the width
    ATTENTION.but(keys=lambda keys: keys.detach())          # an argument is read otherwise
    ATTENTION.but(weights=lambda weights: weights.round())  # a step that asks for itself gets its right value
"""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from torch import nn

Step = Callable[..., Any]
Call = Callable[[Step, Sequence[Any]], Any]


def call(step: Step, values: Sequence[Any]) -> Any:
    """Call a step."""
    return step(*values)


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

    def describe(self, step: str) -> str:
        """Return what a step does, in the imperative: the first line of its docstring."""
        return (inspect.getdoc(self.steps[step]) or step).partition("\n")[0].rstrip(".")

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

    def evaluate(self, bound: inspect.BoundArguments, call: Call = call) -> Any:
        """Return the answer for these arguments. Only the steps that it needs are run, each once.

        Args:
            bound: The arguments.
            call: Calls a step, or remembers what it returned for the same values.
        """
        bound.apply_defaults()
        return self._value(self.result or self.of.last, bound.arguments, {}, call)

    def combined(self, other: "Variant") -> "Variant | None":
        """Return the answer that makes both changes; None where they change the same step."""
        if self.changes.keys() & other.changes.keys():
            return None
        return Variant(self.of, {**self.changes, **other.changes})

    def _value(self, name: str, arguments: Mapping[str, Any], values: dict[str, Any], call: Call) -> Any:
        if name not in values:
            change = self.changes.get(name)
            if change is None:
                values[name] = self._unchanged(name, arguments, values, call)
            else:
                values[name] = call(change, [
                    self._unchanged(name, arguments, values, call)
                    if need == name
                    else self._value(need, arguments, values, call)
                    for need in needs(change)
                ])  # fmt: skip
        return values[name]

    def _unchanged(self, name: str, arguments: Mapping[str, Any], values: dict[str, Any], call: Call) -> Any:
        if name in arguments:
            return arguments[name]
        step = self.of.steps[name]
        return call(step, [self._value(need, arguments, values, call) for need in needs(step)])


@functools.cache
def needs(step: Step) -> tuple[str, ...]:
    """Return the names of what a step asks for."""
    return tuple(inspect.signature(step).parameters)
