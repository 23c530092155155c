"""A case: one call of an exercise, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from torch import Tensor


@dataclass(frozen=True)
class Case:
    """One call of an exercise, as plain data.

    Args:
        inputs: The positional arguments, in order. The description of a stand-in is replaced by its model.
        label: What the case tests, in a few words. Learners read it if the case fails.
        kind: Whether the attempt is a function, an ``nn.Module`` to build first, or a sampler; or a function called
            only once, without gradients.
        keywords: Keyword arguments.
        arguments: For a module, the arguments of its constructor. The description of a stand-in is replaced by its
            model.
        parameters: For a module, its parameters by name.
        not_loaded: For a module, the parameters that keep the values from its constructor. If those are random, so are
            the gradients, which are therefore not compared.
        later: For a module, the inputs and keywords of further calls of the same module.
        constants: Inputs without gradients, like those computed under ``torch.no_grad()``.
        n_samples: For a sampler, the number of samples drawn from each row of its input tensors.
        max_numbers: For some inputs of a function, the maximum number of elements of any tensor computed from them.
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
        """Return the fields as plain data, without the label, which would reveal too much to a learner's code."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "label"}
