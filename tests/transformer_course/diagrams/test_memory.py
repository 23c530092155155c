"""Tests for the diagram that shows which encoder layer each decoder layer reads."""

import pytest
import torch
from torch import Tensor, nn

from transformer_course.diagrams.memory import memory_of
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

SOURCE, TARGET = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 4, 4]])


def transformer(n_layers: int = 2, pre_norm: bool = False) -> Transformer:
    return Transformer(TransformerConfig(11, d_model=8, n_heads=2, d_ff=16, n_layers=n_layers, pre_norm=pre_norm))


class LayerToLayer(nn.Module):
    """A common misconception, in which each decoder layer reads the encoder layer at the same depth."""

    def __init__(self, reads: list[int]) -> None:
        super().__init__()
        model = transformer(len(reads))
        self.encoder, self.decoder, self.reads = model.encoder, model.decoder, reads

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        x, y, outputs = self.encoder.embed(source), self.decoder.embed(target), []
        for layer in self.encoder.layers:
            outputs.append(x := layer(x))
        for i, layer in zip(self.reads, self.decoder.layers, strict=True):
            y = layer(y, outputs[i] if i >= 0 else torch.zeros_like(x))
        return y


def reads(d) -> set[tuple[str, str]]:
    return {link for link in d.links() if link[1].startswith("decoder.") and not link[0].startswith(("dec", "target"))}


MEMORY_READS = {("memory", "decoder.layers.0"), ("memory", "decoder.layers.1")}


@pytest.mark.parametrize("pre_norm", [False, True])
def test_every_decoder_layer_reads_the_memory(pre_norm):
    d = memory_of(transformer(pre_norm=pre_norm), SOURCE, TARGET)
    assert reads(d) == MEMORY_READS


def test_draws_decoder_layers_that_read_earlier_encoder_layers():
    d = memory_of(LayerToLayer([0, 1]), SOURCE, TARGET)
    assert reads(d) == {("encoder.layers.0", "decoder.layers.0"), ("memory", "decoder.layers.1")}
    crossed = memory_of(LayerToLayer([1, 0]), SOURCE, TARGET)
    assert reads(crossed) == {("memory", "decoder.layers.0"), ("encoder.layers.0", "decoder.layers.1")}
    none = memory_of(LayerToLayer([-1, 1]), SOURCE, TARGET)
    assert "decoder.layers.0 reads nothing that was found" in repr(none)
    assert all(d.flaws() == [] for d in (d, crossed, none))


def test_removes_its_hooks():
    model = transformer()
    memory_of(model, SOURCE, TARGET)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
