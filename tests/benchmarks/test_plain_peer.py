"""Tests that each plain PyTorch peer computes the same values as our model with equal parameters."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from benchmarks.contestant import Contestant
from benchmarks.ours import OurLanguageModel, Ours
from benchmarks.plain_language_peer import PlainLanguagePeer
from benchmarks.plain_peer import PlainPeer, Sublayer
from benchmarks.work import END, PAD, Size, Work

SIZE = Size("test", d_model=12, n_heads=3, n_layers=2, d_ff=20, vocab_size=31, max_length=100)
NAMES = {"embedding": "embedding", "1": "feed_forward.w_1", "2": "feed_forward.w_2"}


def assignments(theirs: Sublayer, prefix: str, attention: str, norm: str) -> Iterator[tuple[Tensor, list[str], bool]]:
    """Yield each parameter name in a peer's sublayer, the names of our parameters that it joins, and whether to
    transpose them.
    """
    for name, parameter in theirs.named_parameters():
        kind, _, letters = name.partition("_")
        if not letters:
            yield parameter, [f"{prefix}{norm}.{name}"], False
            continue
        ours = [NAMES[letters]] if letters in NAMES else [f"{attention}.w_{letter}" for letter in letters]
        suffix = {"w": "weight", "b": "bias"}[kind]
        yield parameter, [f"{prefix}{layer}.{suffix}" for layer in ours], kind == "w"


def all_assignments(peer: Contestant) -> Iterator[tuple[Tensor, list[str], bool]]:
    """Yield the assignments for a whole model."""
    if isinstance(peer, PlainLanguagePeer):
        yield peer.embedding, ["embedding.weight"], False
        yield peer.positions, ["positions"], False
        yield peer.norm.weight, ["norm.weight"], False
        yield peer.norm.bias, ["norm.bias"], False
        stacks = {"blocks": peer.blocks}
    else:
        assert isinstance(peer, PlainPeer)
        yield peer.embedding, ["encoder.embedding.weight"], False
        stacks = {"encoder.layers": peer.encoder, "decoder.layers": peer.decoder}
    for stack, layers in stacks.items():
        for i, layer in enumerate(layers):
            for j, part in enumerate(layer):
                attention = "self_attention" if j == 0 else "cross_attention"
                yield from assignments(part, f"{stack}.{i}.", attention, f"norm_{j + 1}")


def joined(tensors: dict[str, Tensor], names: list[str], transpose: bool) -> Tensor:
    """Join several of our parameters into one parameter of the peer."""
    return torch.cat([tensors[name].t() if transpose else tensors[name] for name in names], dim=-1)


def pair(work: Work, seed: int) -> tuple[Contestant, Contestant]:
    """Return our model and its peer with equal parameters. Small embeddings make the generated texts vary."""
    torch.manual_seed(seed)
    embedding = "embedding.weight" if "LM" in work.task else "encoder.embedding.weight"
    ours, peer = (
        (OurLanguageModel(work), PlainLanguagePeer(work)) if "LM" in work.task else (Ours(work), PlainPeer(work))
    )
    for name, parameter in ours.model.named_parameters():
        norm_weight = "norm" in name and name.endswith("weight")
        nn.init.normal_(parameter, float(norm_weight), 0.2 if parameter.dim() == 2 else 0.1)
    nn.init.normal_(ours.model.get_parameter(embedding), std=0.05)
    tensors = dict(ours.model.named_parameters())
    with torch.no_grad():
        for parameter, names, transpose in all_assignments(peer):
            parameter.copy_(joined(tensors, names, transpose))
    return ours, peer


@pytest.mark.parametrize("task", ["train", "train LM"])
@pytest.mark.parametrize(("batch", "length", "padding"), [(5, 11, True), (3, 60, True), (2, 9, False)])
def test_logits_loss_and_gradients_match_the_library(task: str, batch: int, length: int, padding: bool) -> None:
    work = Work(task, SIZE, batch, length, padding=padding)
    data = work.draw()
    ours, peer = pair(work, seed=batch)
    real = data.target != PAD
    with torch.no_grad():
        assert_close(peer.logits(data)[real], ours.logits(data)[real], rtol=1e-4, atol=1e-4)
    losses = [contestant.loss(data) for contestant in (peer, ours)]
    assert_close(*losses)
    for loss in losses:
        loss.backward()
    gradients = {name: p.grad for name, p in ours.model.named_parameters() if p.grad is not None}
    for parameter, names, transpose in all_assignments(peer):
        assert_close(parameter.grad, joined(gradients, names, transpose), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize(
    ("task", "seed", "end_scale"),
    [("greedy", 2, 1), ("beam", 2, 1), ("greedy LM", 2, 1), ("greedy", 7, 3), ("beam", 7, 3), ("greedy LM", 9, 1)],
)
@torch.inference_mode()
def test_generated_tokens_match_the_library(task: str, seed: int, end_scale: float, batch: int) -> None:
    """With the first seed, no text ends. With the other seeds, the texts end at different positions."""
    work = Work(task, SIZE, batch, 13, padding="LM" not in task)
    source = work.draw().source
    ours, peer = pair(work, seed)
    for model in (ours.model, peer.model):
        for matrix in (p for p in model.parameters() if p.shape == (SIZE.vocab_size, SIZE.d_model)):
            matrix[END] *= end_scale
    method = task.split()[0]
    expected = getattr(ours, method)(source)
    ends = (expected == END).any(dim=1)
    n_ends = (expected == END).sum(dim=1)
    assert (ends.all() and (batch == 1 or len(n_ends.unique()) > 1)) if seed > 2 else not ends.any()
    assert len(expected.unique()) > 4
    assert_close(getattr(peer, method)(source), expected)


def test_dropout_matches_our_rate_and_preserves_the_mean() -> None:
    work = replace(Work("train", SIZE, 16, 20), dropout=0.3)
    _, peer = pair(work, seed=0)
    assert isinstance(peer, PlainPeer)
    peer.model.train()
    kept = peer.kept(torch.empty(300, 400))
    assert kept is not None
    assert_close((kept == 0).float().mean().item(), 0.3, rtol=0, atol=0.01)
    assert_close(kept.mean().item(), 1.0, rtol=0, atol=0.01)
