"""Modules that answer from an earlier call."""

from typing import Any

from transformer_course.exercise import Mistake


def that_remember_outputs(reference: type[Any]) -> list[type[Any]]:
    """Return modules that give an earlier output again: to any input of the same shape, or to every input."""

    class RemembersByShape(reference):
        def forward(self, x, *others):
            self.outputs = getattr(self, "outputs", {})
            if x.shape not in self.outputs:
                self.outputs[x.shape] = super().forward(x, *others)
            return self.outputs[x.shape]

    class RemembersTheFirstOutput(reference):
        def forward(self, x, *others):
            if not hasattr(self, "output"):
                self.output = super().forward(x, *others)
            return self.output

    return [RemembersByShape, RemembersTheFirstOutput]


def network_that_remembers(reference: type[Any]) -> Mistake:
    """Return the mistake of a network of one argument that gives an earlier output again."""
    return Mistake(
        "remembers_an_earlier_call",
        *that_remember_outputs(reference),
        says=(
            "A call depends on an earlier one: the network remembers a result. Each call should depend on its own x "
            "and on the parameters, and on nothing else. Look for what is stored in `self`."
        ),
        hints=[
            "Call it with two different x of the same shape. What comes out for the second?",
            "What does `forward` write into `self`?",
            "Keep everything that belongs to a single call in variables of `forward`.",
        ],
    )
