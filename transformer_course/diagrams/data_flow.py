"""Trace a module: find the tensors that each part reads, and the origin of each tensor.

The module runs once, on random vectors. Every tensor that enters a part is compared with all earlier tensors, and with
the sums of two or three earlier tensors. The result therefore shows what the code does, regardless of names in the
code. An input without a match becomes a step of kind "not found".
"""

import copy
import inspect
from collections.abc import Iterable, Iterator, Sized
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import Any, Literal

import torch
from torch import Tensor, nn

N_SOURCE = 11
"""Number of source tokens: the characters of ``3 mars 2021``, read by the layer or by the encoder for its memory."""
N_TARGET = 7
"""Number of target tokens so far, ``<bos>2021-0``, for a layer that also reads a memory."""
NOT_FOUND = "not found"


@dataclass(frozen=True)
class Step:
    """A tensor and its origin.

    Args:
        kind: Whether the tensor is an input of the layer, the output of a part, a sum, or of unknown origin.
        name: The name of the input or part.
        note: The shape of the input, or the class of the part.
        reads: The arguments of the part, or the addends of the sum: for each, its name (empty for an addend) and the
            number of the step that produced it.
    """

    kind: Literal["input", "part", "sum", "not found"]
    name: str
    note: str = ""
    reads: tuple[tuple[str, int], ...] = ()

    @property
    def is_norm(self) -> bool:
        """Whether the tensor is the output of a norm."""
        return self.kind == "part" and "norm" in f"{self.name} {self.note}".lower()


@dataclass(frozen=True)
class Flow:
    """All steps of a layer.

    Args:
        name: The class of the layer.
        steps: The steps in the order of computation. A step is identified by its index.
        output: The number of the step that is the output.
        never_called: The parts that have parameters but were not called.
        dropped: The steps to which dropout is applied in training.
    """

    name: str
    steps: tuple[Step, ...]
    output: int
    never_called: tuple[str, ...] = ()
    dropped: frozenset[int] = frozenset()

    def stream(self) -> list[int]:
        """Return the steps on the residual stream, from the input to the output.

        The method follows the stream back from the output: from a sum to the addend that is not a sublayer's output,
        and from a part to its first argument.
        """
        number = self.output
        backwards = [number]
        sums = [i for i, step in enumerate(self.steps) if step.kind == "sum"]
        if self.steps[number].kind == "not found" and sums:
            number = sums[-1]  # the last point of the stream that could be traced
            backwards.append(number)
        while self.steps[number].reads:
            step = self.steps[number]
            sources = [source for _, source in step.reads]
            number = self._addend_on_stream(sources) if step.kind == "sum" else sources[0]
            backwards.append(number)
        return backwards[::-1]

    def _addend_on_stream(self, addends: list[int]) -> int:
        """Return the earliest addend that is not a sublayer's output, or else the earliest addend."""
        no_sublayers = [i for i in addends if self.steps[i].kind != "part" or self.steps[i].is_norm]
        return min(no_sublayers or addends)

    def verdict(self) -> str:
        """Describe the order of norms and sums on the stream: pre-norm, post-norm or another order."""
        on_stream = [self.steps[i] for i in self.stream()[1:]]
        parts = [step for step in on_stream if step.kind == "part"]
        # for example "+n+n" for two sums (+) that are each followed by a norm (n); s is a sublayer
        order = "".join("+" if step.kind == "sum" else "n" if step.is_norm else "s" for step in on_stream)
        norms = join_names(step.name for step in parts)
        all_norms = [step.name for step in self.steps if step.is_norm]
        if any(step.kind == NOT_FOUND for step in self.steps):
            return "What is marked “not found” is neither a part's output nor a sum of such."
        if "+" not in order:
            return "Nothing is added: there is no residual stream."
        if order == "+n" * (len(order) // 2):
            return f"Post-norm: {norms} {_normalize(parts)} the sums."
        if order == "n+" * (len(order) // 2):
            return f"Cut: x goes on only through {norms}."
        if not parts and all(self._reads_a_norm(step) for step in self.steps if step.kind == "part"):
            return f"Pre-norm: {join_names(all_norms)} {_normalize(all_norms)} the inputs of the sublayers."
        if not parts and self._adds_only_norms():
            return f"Norm after the sublayer: {join_names(all_norms)} {_normalize(all_norms)} what is added."
        return f"On the residual stream: {norms}." if parts else "No part lies on the residual stream."

    def _adds_only_norms(self) -> bool:
        """Return whether everything that is added to the stream is the output of a norm."""
        on_stream = self.stream()
        for number in on_stream:
            if self.steps[number].kind == "sum":
                added = [source for _, source in self.steps[number].reads if source not in on_stream]
                if not all(self.steps[source].is_norm for source in added):
                    return False
        return True

    def _reads_a_norm(self, step: Step) -> bool:
        """Return whether a part is a norm or receives the output of a norm as its first argument."""
        return step.is_norm or self.steps[step.reads[0][1]].is_norm


def _normalize(norms: Sized) -> str:
    return "normalizes" if len(norms) == 1 else "normalize"


def join_names(names: Iterable[str]) -> str:
    """Join names with commas, and "and" before the last name."""
    return " and ".join(", ".join(names).rsplit(", ", 1))


def flow_of(module: nn.Module, *inputs: Tensor, with_masks: bool = True) -> Flow:
    """Run a copy of a module and return the origin of each tensor.

    The parameters of the copy are changed slightly. Without this change, two different tensors could be equal, because
    an untrained norm does not change a normalized tensor and an untrained bias adds nothing. The module itself and
    torch's random state are preserved.

    Args:
        module: The module to trace.
        *inputs: The inputs to run the module on; by default, random vectors and masks.
        with_masks: Whether to pass masks by default.

    Raises:
        ValueError: There are no inputs and no parameters that determine their width.
    """
    generator = torch.Generator().manual_seed(0)
    module = copy.deepcopy(module).cpu().eval()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    arguments = _arguments(module, inputs, generator, with_masks)
    tracer = _Tracer()
    for name, value in arguments.items():
        note = "" if value.dtype == torch.bool else str(tuple(value.shape))
        tracer.add(value, Step("input", name, note))
    parts = dict(_parts(module))
    with ExitStack() as afterwards, torch.no_grad():
        for name, part in parts.items():
            afterwards.callback(part.register_forward_pre_hook(tracer.before_call, with_kwargs=True).remove)
            afterwards.callback(part.register_forward_hook(partial(tracer.after_call, name)).remove)
        output = module(**arguments)
    end = tracer.find(output)
    never_called = []
    for name, part in parts.items():
        has_parameters = next(part.parameters(), None) is not None
        if has_parameters and name not in tracer.called:
            never_called.append(name)
    return Flow(type(module).__name__, tuple(tracer.steps), end, tuple(never_called), frozenset(tracer.dropped))


class _Tracer:
    """A record of the tensors that enter and leave the parts of a module, each with its origin."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.values: list[Tensor] = []
        """A copy of each step's tensor."""
        self.called: set[str] = set()
        self.dropped: set[int] = set()
        self._reads: list[tuple[tuple[str, int], ...]] = []
        """The inputs of each part that has been called but has not returned yet."""

    def add(self, value: Tensor, step: Step) -> int:
        """Add a step and return its number."""
        self.steps.append(step)
        self.values.append(value.clone())  # copy, because a later `x += …` must not change it
        return len(self.steps) - 1

    def find(self, value: Tensor) -> int:
        """Return the number of the step that produced a tensor; a sum or an unknown tensor becomes a new step."""
        for i in reversed(range(len(self.values))):
            if _same(self.values[i], value):
                return i
        candidates = [i for i, old in enumerate(self.values) if (old.shape, old.dtype) == (value.shape, value.dtype)]
        for n_addends in (2, 3):
            for addends in combinations_with_replacement(candidates, n_addends):
                total = sum(self.values[i] for i in addends)
                assert isinstance(total, Tensor)
                if _same(total, value):
                    return self.add(value, Step("sum", "+", reads=tuple(("", i) for i in addends)))
        return self.add(value, Step("not found", NOT_FOUND))

    def before_call(self, part: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Record the tensors that a part reads."""
        arguments = inspect.signature(part.forward).bind(*args, **kwargs).arguments
        reads = [(name, self.find(value)) for name, value in arguments.items() if isinstance(value, Tensor)]
        self._reads.append(tuple(reads))

    def after_call(self, name: str, part: nn.Module, _args: Any, output: Any) -> None:
        """Record the tensor that a part returns, unless the part returns its input, as dropout does."""
        self.called.add(name)
        reads = self._reads.pop()
        if isinstance(part, nn.Dropout) and part.p:
            self.dropped |= {i for _, i in reads}
        if isinstance(output, Tensor) and not any(_same(self.values[i], output) for _, i in reads):
            self.add(output, Step("part", name, type(part).__name__, reads))


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(one, other) if one.dtype == torch.bool else torch.allclose(one, other, rtol=1e-4, atol=1e-5)


def _parts(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Return the children of a module, replacing each ``ModuleList`` and ``ModuleDict`` by the modules in it."""
    for name, child in module.named_children():
        if isinstance(child, nn.ModuleList | nn.ModuleDict):
            yield from ((f"{name}.{inner}", part) for inner, part in _parts(child))
        else:
            yield name, child


def _arguments(
    module: nn.Module, inputs: tuple[Tensor, ...], generator: torch.Generator, with_masks: bool
) -> dict[str, Tensor]:
    """Return the inputs to run a module on, keyed by argument name."""
    parameters = list(inspect.signature(module.forward).parameters.values())
    if inputs:
        return dict(zip((p.name for p in parameters), inputs, strict=False))
    width = next((parameter.shape[-1] for parameter in module.parameters() if parameter.ndim), None)
    if width is None:
        raise ValueError(
            f"{type(module).__name__} has no parameters that determine its input width; pass the inputs as well"
        )
    required = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    # A layer with one input reads the source. Of several inputs, the first is the target, and all others are memories.
    lengths = [N_SOURCE] if len(required) == 1 else [N_TARGET, *[N_SOURCE] * (len(required) - 1)]
    arguments = {}
    for name, n in zip(required, lengths, strict=True):
        arguments[name] = torch.randn(1, n, width, generator=generator)
    for p in parameters if with_masks else ():
        if "mask" in p.name and p.default is None:
            is_memory_mask = any(name in p.name for name in required[1:])
            n_key = lengths[-1] if is_memory_mask else lengths[0]
            arguments[p.name] = torch.ones(lengths[0], n_key).tril().bool()
    return arguments
