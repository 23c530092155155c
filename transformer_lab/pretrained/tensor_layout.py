"""How another library keeps what is in one of our models: under which names, and in which order and shape."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn


class Change:
    """How a tensor of theirs becomes one of ours, or several, and back. Here: it stays what it is."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Give our tensors for one of theirs."""
        return [theirs]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Give their tensor for ours."""
        return ours[0]


class Transposed(Change):
    """They multiply by matrices from the other side; vectors stay what they are."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Turn it round."""
        return [theirs.t()]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Turn it round."""
        return ours[0].t()


class Fused(Change):
    """They project to queries, keys and values at once, and multiply from the other side."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Cut it in three."""
        return theirs.t().chunk(3)

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Put three together."""
        return torch.cat(list(ours)).t()


class Row(Change):
    """They keep a vector as a matrix of one row."""

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Take the row."""
        return [theirs.squeeze(0)]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Make it a row."""
        return ours[0].unsqueeze(0)


@dataclass(frozen=True)
class Paired(Change):
    """Features that belong together stand side by side in ours, half the width apart in theirs.

    That is so with rotary positions, where two features of a head are turned together, and with sinusoids, where a
    sine and a cosine have the same frequency. In which order features stand makes no difference to a model, as long as
    all that reads and writes them agrees.

    Args:
        axis: Where the features are.
        n_groups: How many widths there are on that axis, such as one for each head.

    >>> Paired(axis=0).to_ours(torch.tensor([1, 2, 3, -1, -2, -3]))
    [tensor([ 1, -1,  2, -2,  3, -3])]
    """

    axis: int
    n_groups: int = 1

    def to_ours(self, theirs: Tensor) -> Sequence[Tensor]:
        """Put the second half between the first."""
        halves = torch.unflatten(theirs, self.axis, (self.n_groups, 2, -1))
        return [halves.transpose(self.axis + 1, self.axis + 2).flatten(self.axis, self.axis + 2)]

    def to_theirs(self, ours: Sequence[Tensor]) -> Tensor:
        """Put what stands second in each pair behind all that stand first."""
        pairs = torch.unflatten(ours[0], self.axis, (self.n_groups, -1, 2))
        return pairs.transpose(self.axis + 1, self.axis + 2).flatten(self.axis, self.axis + 2)


class Entry(NamedTuple):
    """A tensor of theirs, and the parameters of ours that it holds.

    Args:
        theirs: Its name there.
        ours: Their names here.
        change: How one becomes the other.
        others: Names under which they may store it again, or instead.
    """

    theirs: str
    ours: tuple[str, ...]
    change: Change = Change()
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Layout:
    """Where everything in a model is.

    Args:
        entries: What belongs together.
        prefix: What the names may begin with and may not: a model is published with or without its last layer.
        constants: What they may store though it is not learned, and must be what our model computes.
        ignored: A pattern of names of what they may store and do not use either.
    """

    entries: Sequence[Entry]
    prefix: str
    constants: Mapping[str, Tensor] = field(default_factory=dict)
    ignored: str = r"(?!)"

    def load(self, model: nn.Module, stored: Mapping[str, Tensor], where: str) -> None:
        """Copy their tensors into our model.

        Args:
            model: One of the shape that their configuration says.
            stored: Their tensors by their names.
            where: What errors call them.

        Raises:
            ValueError: Tensors are missing, unknown, of another shape, or disagree; all are named.
        """
        ours = dict(model.named_parameters())
        theirs = self._with_prefix(stored)
        if problems := sorted(self._problems(ours, theirs)):
            raise ValueError(f"{where} does not fit its configuration: {'; '.join(problems)}")
        with torch.no_grad():
            for entry in self.entries:
                name = next(name for name in (entry.theirs, *entry.others) if name in theirs)
                for our_name, tensor in zip(entry.ours, entry.change.to_ours(theirs[name]), strict=True):
                    ours[our_name].copy_(tensor)

    def tensors(self, model: nn.Module) -> dict[str, Tensor]:
        """Give what is in our model as they store it."""
        ours = dict(model.named_parameters())
        return {entry.theirs: entry.change.to_theirs([ours[name] for name in entry.ours]) for entry in self.entries}

    def _with_prefix(self, stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
        if any(name.startswith(self.prefix) for name in stored):
            return dict(stored)
        full = {entry.theirs for entry in self.entries} | {name for entry in self.entries for name in entry.others}
        return {name if name in full else self.prefix + name: tensor for name, tensor in stored.items()}

    def _problems(self, ours: Mapping[str, Tensor], theirs: Mapping[str, Tensor]) -> Iterator[str]:
        known = set(self.constants)
        for entry in self.entries:
            shape = entry.change.to_theirs([ours[name] for name in entry.ours]).shape
            found = [name for name in (entry.theirs, *entry.others) if name in theirs]
            known.update(found)
            if not found:
                yield f"{entry.theirs} is missing"
            for name in found:
                if theirs[name].shape != shape:
                    yield f"{name} has the shape {tuple(theirs[name].shape)}, not {tuple(shape)}"
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
