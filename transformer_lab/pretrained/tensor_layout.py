"""Convert between a model's parameters and the names, order and shapes of a published checkpoint."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer_lab.tensor_files import plain_names


class Conversion:
    """A conversion of a published tensor into our parameters and back; the base class changes nothing."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Return our tensors for a published tensor."""
        return [theirs]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Return the published tensor for our tensors."""
        return ours[0]


class Transpose(Conversion):
    """Transpose matrices from ``(in, out)`` (``Conv1D``) to our layout, ``(out, in)``; leave vectors unchanged."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Transpose the matrix."""
        return [theirs.t()]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Transpose the matrix."""
        return ours[0].t()


class SplitQKV(Conversion):
    """Split the query, key and value projections, which are published as one matrix ``(in, 3 · out)``."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Transpose the matrix and split it into three."""
        return theirs.t().chunk(3)

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Concatenate the three matrices and transpose the result."""
        return torch.cat(list(ours)).t()


class SqueezeRow(Conversion):
    """Convert a vector that is published as a matrix with one row."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Remove the first dimension."""
        return [theirs.squeeze(0)]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Add a first dimension."""
        return ours[0].unsqueeze(0)


@dataclass(frozen=True)
class InterleaveHalves(Conversion):
    """Convert pairs of features: neighbors in our layout, half the width apart in the published layout.

    A pair is the two features of a head that rotary positions rotate together, or the sine and the cosine of a
    frequency in sinusoidal positions. The order of features does not matter to a model as long as all parameters that
    read or write them use the same order.

    Args:
        axis: Dimension of the features.
        n_groups: Number of groups in that dimension that are reordered separately, such as one for each head.

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
    """Convert the scale of a norm that is published as its difference from 1."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Add 1 in float32, because half precision would round the sum."""
        return [theirs.float() + 1]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Subtract 1."""
        return ours[0] - 1


@dataclass(frozen=True)
class Chain(Conversion):
    """Apply two conversions to a tensor in sequence."""

    first: Conversion
    second: Conversion

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Apply both conversions."""
        return self.second.to_ours(*self.first.to_ours(theirs))

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Invert both conversions, in reverse order."""
        return self.first.to_theirs([self.second.to_theirs(ours)])


class Entry(NamedTuple):
    """A published tensor and the parameters that it contains.

    Args:
        theirs: Name of the published tensor.
        ours: Names of our parameters.
        conversion: Converts the tensor into the parameters.
        others: Other names under which a checkpoint may store the tensor, in addition to ``theirs`` or instead.
    """

    theirs: str
    ours: tuple[str, ...]
    conversion: Conversion = Conversion()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """The layout of all tensors of a model.

    Args:
        entries: The published tensors and the parameters that they contain.
        prefix: Optional prefix of all names, because models are published with or without their last layer.
        constants: Tensors that a checkpoint may contain although they are not learned; their values are checked.
        ignored: Regular expression for the names of unused tensors that a checkpoint may contain.
    """

    entries: Sequence[Entry]
    prefix: str
    constants: Mapping[str, Tensor] = field(default_factory=dict)
    ignored: str = r"(?!)"

    def load(self, model: nn.Module, stored: Mapping[str, Tensor], where: str) -> None:
        """Copy published tensors into one of our models.

        Args:
            model: The model, built from the converted configuration, for example by ``make_empty``.
            stored: The published tensors, keyed by name.
            where: Name of the checkpoint in error messages.

        Raises:
            ValueError: Tensors are missing, unknown, of the wrong shape, not finite, or contradict each other. The
                message lists these tensors, and nothing is loaded.
        """
        ours = plain_names(model.named_parameters())
        theirs = self._with_prefix(stored)
        if problems := sorted(self._problems(ours, theirs)):
            message = " ".join("; ".join(problems).split())  # names may contain newlines
            raise ValueError(f"{where} does not match its configuration: {message}")
        if any(parameter.is_meta for parameter in ours.values()):
            ours = plain_names(model.to_empty(device="cpu").named_parameters())
        with torch.no_grad():
            for entry in self.entries:
                name = next(name for name in (entry.theirs, *entry.others) if name in theirs)
                for our_name, tensor in zip(entry.ours, entry.conversion.to_ours(theirs[name]), strict=True):
                    ours[our_name].copy_(tensor)

    def tensors(self, model: nn.Module) -> dict[str, Tensor]:
        """Return the parameters of a model in the format of the checkpoint."""
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
                    yield f"{name} contains NaN or infinity"
                elif not torch.equal(theirs[name], theirs[found[0]]):
                    yield f"{name} and {found[0]} differ but must be equal"
        for name in self.constants.keys() & theirs.keys():
            expected, half = self.constants[name], theirs[name].element_size() < 4
            if theirs[name].shape != expected.shape:
                yield f"{name} has the shape {tuple(theirs[name].shape)}, not {tuple(expected.shape)}"
            elif not torch.allclose(theirs[name].float(), expected, rtol=0, atol=1e-2 if half else 1e-4):
                yield f"{name} differs from the constant of this library's models"
        for name in theirs.keys() - known:
            if not re.fullmatch(self.ignored, name):
                yield f"{name} is unknown"
