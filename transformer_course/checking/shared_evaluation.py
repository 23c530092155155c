"""Share computations among thousands of variants of an answer on the same arguments."""

import copy
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torch import nn

from transformer_course.steps import SharedValues, identity


class SharedEvaluation:
    """Arguments, module and intermediate values shared by many variants.

    Args:
        given: The arguments.
        module: The module whose ``forward`` the variants replace, if the answer is a module.
    """

    def __init__(self, given: Mapping[str, Any], module: nn.Module | None) -> None:
        self.given, self.module, self.shared = given, copy.deepcopy(module), SharedValues()
        self.bound: inspect.BoundArguments | None = None
        """The arguments bound to the answer's parameters. None before the first call, or if each call binds its own
        arguments."""
        self._before = identity([*given.values()])
        for child in self.module.children() if self.module else []:
            for part in child if isinstance(child, nn.ModuleList) else [child]:
                part.forward = partial(self._call, part.forward)

    def is_unchanged(self) -> bool:
        """Return whether the arguments are known to be unchanged."""
        return self._before is not None and identity([*self.given.values()]) == self._before

    def _call(self, forward: Callable[..., Any], *inputs: Any, **keywords: Any) -> Any:
        if keywords:
            return forward(*inputs, **keywords)
        return self.shared.call(forward, inputs, [identity(value) for value in inputs])[0]
