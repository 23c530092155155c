"""A case: one call of an exercise, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from torch import Tensor


@dataclass(frozen=True)
class Case:
    """One call of an exercise, as plain data.

    Args:
        inputs: The arguments, in order; a stand-in's description becomes its model.
        shows: What this case looks at, in a few words a learner reads when it fails.
        how: Whether the attempt is a function, an ``nn.Module`` to build first, or a sampler.
        keywords: Arguments passed by name.
        arguments: For a module, the arguments of its constructor.
        parameters: For a module, its parameters by name.
        gradients: Whether the gradients that reach the float inputs (and parameters) are observed too.
        draws: For a sampler, how often each row of its first input is drawn from.
    """

    inputs: Mapping[str, Any]
    shows: str
    how: Literal["function", "module", "sampler"] = "function"
    keywords: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Tensor] = field(default_factory=dict)
    gradients: bool = False
    draws: int = 0
