"""A case: one call of an exercise, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from torch import Tensor


@dataclass(frozen=True)
class Case:
    """One call of an exercise, as plain data.

    Args:
        inputs: The arguments, in order; a stand-in's description becomes its model.
        label: What the case tests, in a few words; a learner reads them when it fails.
        kind: Whether the attempt is a function, an ``nn.Module`` to build first, or a sampler; or a function that is
            called once, without gradients, to see what it returns.
        keywords: Arguments passed by name.
        arguments: For a module, the arguments of its constructor; a stand-in's description becomes its model.
        parameters: For a module, its parameters by name.
        not_loaded: For a module, those of its parameters that stay as its constructor made them. Where that is at
            random, so are the gradients, and none are looked at.
        later: For a module, further calls of the same module: other inputs and keywords by name, each instead of the
            case's own.
        constants: Inputs that come without gradients, as from ``torch.no_grad()``: none are looked at.
        n_samples: For a sampler, the number of samples drawn from each row of its inputs, which are tensors with a row
            for each draw.
        max_numbers: For some inputs of a function, the number of numbers in the largest tensor that may be made of it.
    """

    inputs: Mapping[str, Any]
    label: str = ""
    kind: Literal["function", "module", "sampler", "once"] = "function"
    keywords: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Tensor] = field(default_factory=dict)
    not_loaded: Sequence[str] = ()
    later: Sequence[Mapping[str, Any]] = ()
    constants: Sequence[str] = ()
    n_samples: int = 0
    max_numbers: Mapping[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return its fields by name, as plain data, but for the label: that would tell a learner's code too much."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "label"}
