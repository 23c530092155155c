"""One run of a model on one text, for the model map: the output of each block, and the predictions after each token."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_lab.inspection.hooks import record_attention

N_CANDIDATES = 5
LEVELS = 127
"""Quantization levels per sign: a number is sent as a fraction of the largest in its block."""
ADDING = ("attention", "feed_forward", "mlp")
"""The ends of the names of modules whose output is added to the residual stream. Their inner modules are not shown."""


def record_run(
    model: nn.Module, inputs: Sequence[Any], names: Callable[[int], str] | Sequence[Callable[[int], str]]
) -> dict[str, Any]:
    """Run a model, in the mode it is in, and return the run as plain data.

    Args:
        model: Any model of tokens; blocks are its modules whose output has a vector for each token of a sequence.
        inputs: Its arguments. The integer tensors (1, n) among them are its sequences: one, or source and target.
        names: From a token id to its text, for all sequences or one function for each.

    Returns:
        ``sequences``: their tokens. ``blocks``, in the order in which they end: name, class, number of the sequence,
        width, the largest number, and ``numbers``, a row for each token, in base 64; of an attention ``heads``,
        ``weights`` and the number of the sequence of its ``keys``; of what is added to the residual stream ``adds``,
        how long it is beside the stream, per token. ``next``: for each token of the last sequence, the most probable
        that may follow it.

    Raises:
        ValueError: No argument is a sequence, not one text is given, or there are not as many ``names`` as sequences.
    """
    ids = [given for given in inputs if isinstance(given, Tensor) and given.ndim == 2 and given.dtype == torch.int64]
    functions = [names] * len(ids) if callable(names) else list(names)
    if not ids or any(len(each) != 1 for each in ids) or len(ids) != len(functions):
        got = f"{[tuple(each.shape) for each in ids]} and {len(functions)} names"
        raise ValueError(f"a run needs sequences of one text, and names for each; got {got}")
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
            sent = _bytes((table[0] * 255).round().to(torch.uint8))
            block |= {"heads": table.shape[1], "keys": keys, "weights": sent}
    best = logits[0].softmax(dim=-1).topk(min(N_CANDIDATES, logits.shape[-1]), dim=-1)
    following = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return {
        "sequences": [[name(i) for i in each[0].tolist()] for each, name in zip(ids, functions, strict=True)],
        "blocks": blocks,
        "next": [[[functions[-1](i), round(p, 4)] for i, p in zip(*row, strict=True)] for row in following],
    }


def _blocks(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """List the modules to show: without containers, dropout, and modules inside those that add to the stream."""
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
    """Return the hooks of one block. They record its output; its input is the stream that the modules inside add to.

    Layers that turn out to be post-norm are added to ``post_norm``: they normalize the stream after each addition.
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
            "numbers": _bytes(levels),
        }
        stream = streams.get(parent)
        if name.endswith(ADDING) and stream is not None and stream.shape == output.shape:
            # the input was not normalized, so the sum will be: this is a post-norm layer
            if given and given[0] is stream:
                post_norm.add(parent)
            if parent in post_norm:
                stream = given[0]
            ratio = rows.norm(dim=-1) / stream[0].float().norm(dim=-1).clamp_min(1e-12)
            block["adds"] = [round(x, 3) for x in ratio.tolist()]
            streams[parent] = stream + output
        blocks.append(block)

    return [part.register_forward_pre_hook(begin), part.register_forward_hook(end)]


def _bytes(numbers: Tensor) -> str:
    return b64encode(numbers.cpu().contiguous().numpy().tobytes()).decode()
