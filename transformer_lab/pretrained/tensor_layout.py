"""How a published checkpoint stores the parameters of a model: under which names, in which order and shape."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer_lab.tensor_files import plain_names


class Conversion:
    """Converts a published tensor into parameters of ours, and back. This one leaves it as it is."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Return our tensors for one of theirs."""
        return [theirs]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Return their tensor for ours."""
        return ours[0]


class Transpose(Conversion):
    """They store matrices as ``(in, out)``, as ``Conv1D`` does, and we as ``(out, in)``; vectors stay as they are."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Transpose it."""
        return [theirs.t()]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Transpose it."""
        return ours[0].t()


class SplitQKV(Conversion):
    """They store the projections to queries, keys and values as one matrix ``(in, 3 · out)``, and we as three."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Split it into three, transposed."""
        return theirs.t().chunk(3)

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Concatenate the three, and transpose them."""
        return torch.cat(list(ours)).t()


class SqueezeRow(Conversion):
    """They store a vector as a matrix of one row."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Remove the first axis."""
        return [theirs.squeeze(0)]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Add a first axis."""
        return ours[0].unsqueeze(0)


@dataclass(frozen=True)
class InterleaveHalves(Conversion):
    """The two features of a pair are neighbors in ours, and half the width apart in theirs.

    Pairs are the two features of a head that a rotary position rotates together, or the sine and the cosine of one
    frequency in sinusoidal positions. The order of features makes no difference to a model as long as every parameter
    that reads or writes them agrees on it.

    Args:
        axis: Axis of the features.
        n_groups: Number of groups on that axis that are reordered separately, such as one for each head.

    >>> InterleaveHalves(axis=0).to_ours(torch.tensor([1, 2, 3, -1, -2, -3]))
    [tensor([ 1, -1,  2, -2,  3, -3])]
    """

    axis: int
    n_groups: int = 1

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Interleave the two halves of each group."""
        halves = torch.unflatten(theirs, self.axis, (self.n_groups, 2, -1))
        return [halves.transpose(self.axis + 1, self.axis + 2).flatten(self.axis, self.axis + 2)]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Move the second feature of each pair into the second half of its group."""
        pairs = torch.unflatten(ours[0], self.axis, (self.n_groups, -1, 2))
        return pairs.transpose(self.axis + 1, self.axis + 2).flatten(self.axis, self.axis + 2)


class AddOne(Conversion):
    """They store the scale of a norm as its difference from 1."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Add 1, in float32: half precision would round it."""
        return [theirs.float() + 1]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Subtract 1."""
        return ours[0] - 1


@dataclass(frozen=True)
class Chain(Conversion):
    """Two conversions of one tensor, the first and then the second."""

    first: Conversion
    second: Conversion

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Convert it by both."""
        return self.second.to_ours(*self.first.to_ours(theirs))

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Convert it back by both."""
        return self.first.to_theirs([self.second.to_theirs(ours)])


class Entry(NamedTuple):
    """A published tensor, and the parameters of ours that it holds.

    Args:
        theirs: Name of the published tensor.
        ours: Names of our parameters.
        conversion: How the tensor is converted into the parameters.
        others: Names under which a checkpoint may store the tensor again, or instead.
    """

    theirs: str
    ours: tuple[str, ...]
    conversion: Conversion = Conversion()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """The layout of all tensors of a model.

    Args:
        entries: The published tensors with the parameters that they hold.
        prefix: Optional beginning of all names: models are published with or without their last layer.
        constants: Tensors that a checkpoint may store although they are not learned; their values are checked.
        ignored: Regular expression for the names of tensors that a checkpoint may store and nothing uses.
    """

    entries: Sequence[Entry]
    prefix: str
    constants: Mapping[str, Tensor] = field(default_factory=dict)
    ignored: str = r"(?!)"

    def load(self, model: nn.Module, stored: Mapping[str, Tensor], where: str) -> None:
        """Copy published tensors into a model of ours.

        Args:
            model: The model, made from the converted configuration, from ``make_empty`` or elsewhere.
            stored: The published tensors by name.
            where: Name of the checkpoint in error messages.

        Raises:
            ValueError: Tensors are missing, unknown, of another shape, not finite, or contradict each other; all of
                them are named, and nothing is loaded.
        """
        ours = plain_names(model.named_parameters())
        theirs = self._with_prefix(stored)
        if problems := sorted(self._problems(ours, theirs)):
            message = " ".join("; ".join(problems).split())  # names may have line ends
            raise ValueError(f"{where} does not fit its configuration: {message}")
        if any(parameter.is_meta for parameter in ours.values()):
            ours = plain_names(model.to_empty(device="cpu").named_parameters())
        with torch.no_grad():
            for entry in self.entries:
                name = next(name for name in (entry.theirs, *entry.others) if name in theirs)
                for our_name, tensor in zip(entry.ours, entry.conversion.to_ours(theirs[name]), strict=True):
                    ours[our_name].copy_(tensor)

    def tensors(self, model: nn.Module) -> dict[str, Tensor]:
        """Return the parameters of a model as the checkpoint stores them."""
        ours = plain_names(model.named_parameters())
        return {entry.theirs: entry.conversion.to_theirs([ours[name] for name in entry.ours]) for entry in self.entries}

    def _with_prefix(self, stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
        if any(name.startswith(self.prefix) for name in stored):
            return dict(stored)
        full = {entry.theirs for entry in self.entries} | {name for entry in self.entries for name in entry.others}
        return {name if name in full else self.prefix + name: tensor for name, tensor in stored.items()}

    def _problems(self, ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> Iterator[str]:
        known = set(self.constants)
        for entry in self.entries:
            shape = entry.conversion.to_theirs([ours[name] for name in entry.ours]).shape
            found = [name for name in (entry.theirs, *entry.others) if name in theirs]
            known.update(found)
            if not found:
                yield f"{entry.theirs} is missing"
            for name in found:
                if theirs[name].shape != shape:
                    yield f"{name} has the shape {tuple(theirs[name].shape)}, not {tuple(shape)}"
                elif not theirs[name].isfinite().all():
                    yield f"{name} holds NaN or infinity"
                elif not torch.equal(theirs[name], theirs[found[0]]):
                    yield f"{name} and {found[0]} differ, and should be one"
        for name in self.constants.keys() & theirs.keys():
            expected, half = self.constants[name], theirs[name].element_size() < 4
            if theirs[name].shape != expected.shape:
                yield f"{name} has the shape {tuple(theirs[name].shape)}, not {tuple(expected.shape)}"
            elif not torch.allclose(theirs[name].float(), expected, rtol=0, atol=1e-2 if half else 1e-4):
                yield f"{name} is not what this library's models compute"
        for name in theirs.keys() - known:
            if not re.fullmatch(self.ignored, name):
                yield f"{name} is unknown"
