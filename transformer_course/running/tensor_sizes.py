"""How large the tensors are that a call makes of one of its arguments: some answers must not make large ones."""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LargestTensor(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Watches what torch computes inside the block of a ``with``.

    Args:
        argument: What is made of this tensor is watched, and what is made of that, and so on.

    Attributes:
        largest: Number of numbers in the largest tensor made so far; views hold none of their own.
    """

    def __init__(self, argument: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.largest = 0
        self._given = self._storage(argument)
        self._made_of_it = {self._given}
        self._alive: list[Tensor] = []  # storage that is freed could come again, as that of another tensor

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run one operation, and note what comes of it."""
        result = func(*args, **(kwargs or {}))
        if any(self._storage(tensor) in self._made_of_it for tensor in _tensors((args, kwargs))):
            for tensor in filter(Tensor.numel, _tensors(result)):  # empty ones share the storage at address 0
                self._made_of_it.add(self._storage(tensor))
                self._alive.append(tensor)
                if self._storage(tensor) != self._given:
                    self.largest = max(self.largest, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here. Otherwise torch imports its compiler at the first operation, for over a second."""
        return False

    @staticmethod
    def _storage(tensor: Tensor) -> int:
        return tensor.untyped_storage().data_ptr()


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
