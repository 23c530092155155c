"""A case: one call to an attempt at an exercise, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from torch import Tensor


@dataclass(frozen=True)
class Case:
    """One call to an attempt at an exercise, as plain data.

    Args:
        inputs: The positional arguments, in order. A description of a stand-in model is replaced by the model.
        label: A short description of the case, which learners see if the case fails.
        kind: Whether the attempt is a function, an ``nn.Module`` class, a sampler, or a function that is called only
            once and without gradients.
        keywords: Keyword arguments.
        arguments: For a module, the arguments of its constructor. A description of a stand-in model is replaced by the
            model.
        parameters: For a module, its parameters by name.
        not_loaded: For a module, the parameters that keep the values from its constructor. These may be random, so
            gradients are not compared.
        later: For a module, the inputs and keywords of further calls to the same module.
        constants: Inputs that require no gradient, such as values computed under ``torch.no_grad()``.
        n_samples: For a sampler, the number of samples drawn from each row of its input tensors.
        max_numbers: For some inputs of a function, the maximum number of elements in any tensor computed from that
            input.
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
        """Return the fields as plain data, without the label, which a learner's code could use."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "label"}
