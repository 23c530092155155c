"""Record one run of a model on one text for the model map: the output of each block, and the next-token predictions."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.inspection.hooks import record_attention

N_CANDIDATES = 5
LEVELS = 127
"""Quantization levels per sign. A number is sent as a fraction of the largest number in its block."""
ADDING = ("attention", "feed_forward", "mlp")
"""Name endings of modules whose output is added to the residual stream. Modules inside them are not shown."""


def record_run(
    model: nn.Module, inputs: Sequence[Any], names: Callable[[int], str] | Sequence[Callable[[int], str]]
) -> dict[str, Any]:
    """Run a model in its current mode, and return the run as plain data.

    Args:
        model: Any model of tokens. Its blocks are the modules whose output contains a vector for each token of a
            sequence.
        inputs: The arguments of the model. Integer tensors of shape (1, n) are its sequences: one, or source and
            target.
        names: Function that maps a token id to its text, or a list with one function for each sequence.

    Returns:
        A dict with these keys:

        - ``sequences``: The tokens of each sequence.
        - ``blocks``: The blocks, in the order of their outputs. Each block has its ``name``, ``class``, the index of
          its ``sequence``, its ``width``, the ``largest`` number, and ``numbers``, a row for each token in base 64. An
          attention block also has ``heads``, ``weights`` and the index of the sequence that contains its ``keys``. A
          block that is added to the residual stream also has ``adds``: for each token, its norm divided by the norm of
          the stream.
        - ``next``: For each token of the last sequence, the most probable next tokens and their probabilities.

    Raises:
        ValueError: No argument is a sequence, a sequence has a batch size other than 1, or the numbers of ``names`` and
            sequences differ.
    """
    ids = [value for value in inputs if isinstance(value, Tensor) and value.ndim == 2 and value.dtype == torch.int64]
    functions = [names] * len(ids) if callable(names) else list(names)
    if not ids or any(len(each) != 1 for each in ids) or len(ids) != len(functions):
        got = f"{[tuple(each.shape) for each in ids]} and {len(functions)} names"
        raise ValueError(f"inputs must contain sequences with batch size 1, each with a function in names; got {got}")
    blocks: list[dict[str, Any]] = []
    streams: dict[str, Tensor] = {}
    post_norm: set[str] = set()
    with torch.no_grad(), record_attention(model) as weights:
        handles = [h for name, part in _blocks(model) for h in _watch(name, part, ids, blocks, streams, post_norm)]
        try:
            logits = model(*inputs)
        finally:
            for handle in handles:
                handle.remove()
    for block in blocks:
        if (table := weights.get(block["name"])) is not None:
            keys = 0 if "cross" in block["name"] else block["sequence"]
            sent = _base64((table[0] * 255).round().to(torch.uint8))
            block |= {"heads": table.shape[1], "keys": keys, "weights": sent}
    best = logits[0].softmax(dim=-1).topk(min(N_CANDIDATES, logits.shape[-1]), dim=-1)
    following = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return {
        "sequences": [[name(i) for i in each[0].tolist()] for each, name in zip(ids, functions, strict=True)],
        "blocks": blocks,
        "next": [[[functions[-1](i), round(p, 4)] for i, p in zip(*row, strict=True)] for row in following],
    }


def _blocks(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """Return all modules except containers, dropout, and modules inside a module that adds to the stream."""
    inside = [name for name, _ in model.named_modules() if name.endswith(ADDING)]
    return [
        (name, part)
        for name, part in model.named_modules()
        if name
        and not isinstance(part, nn.ModuleList | nn.Dropout | nn.Identity)
        and not any(name.startswith(f"{other}.") for other in inside)
        and not (any(part.children()) and any(isinstance(child, nn.ModuleList) for child in part.children()))
    ]


def _watch(
    name: str,
    part: nn.Module,
    ids: Sequence[Tensor],
    blocks: list[dict[str, Any]],
    streams: dict[str, Tensor],
    post_norm: set[str],
) -> list[Any]:
    """Register hooks that record the output of one block, and return their handles.

    The input of a block is the stream that the modules inside it add to. Layers that turn out to be post-norm, which
    normalize the stream after each addition, are added to ``post_norm``.
    """
    parent = name.rpartition(".")[0]
    sequence = 0 if "encoder" in name else len(ids) - 1

    def begin(_part: nn.Module, given: tuple[Any, ...]) -> None:
        if given and isinstance(given[0], Tensor):
            streams[name] = given[0]

    def end(_part: nn.Module, given: Any, output: Any) -> None:
        if not isinstance(output, Tensor) or output.ndim != 3 or output.shape[:2] != ids[sequence].shape:
            return
        rows = output[0].float()
        largest = rows.abs().max().item()
        levels = (rows / max(largest, 1e-12) * LEVELS).round().to(torch.int8)
        block = {
            "name": name,
            "class": type(part).__name__,
            "sequence": sequence,
            "width": rows.shape[1],
            "largest": round(largest, 4),
            "numbers": _base64(levels),
        }
        stream = streams.get(parent)
        if name.endswith(ADDING) and stream is not None and stream.shape == output.shape:
            # the input is the stream itself and not a normalized copy, so this is a post-norm layer
            if given and given[0] is stream:
                post_norm.add(parent)
            if parent in post_norm:
                stream = given[0]
            ratio = rows.norm(dim=-1) / stream[0].float().norm(dim=-1).clamp_min(1e-12)
            block["adds"] = [round(x, 3) for x in ratio.tolist()]
            streams[parent] = stream + output
        blocks.append(block)

    return [part.register_forward_pre_hook(begin), part.register_forward_hook(end)]


def _base64(numbers: Tensor) -> str:
    return b64encode(numbers.cpu().contiguous().numpy().tobytes()).decode()
