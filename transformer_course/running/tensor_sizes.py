"""Measure the largest tensor that a call computes from an argument, for exercises that forbid large tensors."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LargestTensor(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """The size of the largest tensor computed inside a ``with`` block.

    Args:
        argument: Only tensors computed from this tensor, directly or indirectly, are measured.

    Attributes:
        largest: Number of elements in the largest tensor so far. Views of the argument don't count.
    """

    def __init__(self, argument: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.largest = 0
        self._given = self._storage(argument)
        self._derived = {self._given}
        self._alive: list[Tensor] = []  # keeps each storage alive, so that no other tensor reuses its address

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run one operation and record its results."""
        result = func(*args, **(kwargs or {}))
        if any(self._storage(tensor) in self._derived for tensor in _tensors((args, kwargs))):
            for tensor in filter(Tensor.numel, _tensors(result)):  # all empty tensors have address 0
                self._derived.add(self._storage(tensor))
                self._alive.append(tensor)
                if self._storage(tensor) != self._given:
                    self.largest = max(self.largest, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False, so that torch does not import its compiler, which takes more than a second."""
        return False

    @staticmethod
    def _storage(tensor: Tensor) -> int:
        return tensor.untyped_storage().data_ptr()


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
