"""Greedy decoding, against a loop that writes one sentence at a time."""

import pytest
import torch
from torch import Tensor

from tests.helpers.scripted_model import Scripted
from transformer_lab.generation.decode import greedy_decode
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

PAD, BOS, EOS = 0, 1, 2


@pytest.fixture(scope="module")
def model():
    return Scripted(TransformerConfig(vocab_size=15, d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=20))


SOURCES = [torch.randint(3, 7, (n,), generator=torch.Generator().manual_seed(n)).tolist() for n in range(1, 18)]


def alone(model: Transformer, source: list[int], max_length: int) -> list[int]:
    """Write one sentence, from the beginning again at every step."""
    written: list[int] = []
    while len(written) < max_length and EOS not in written:
        with torch.no_grad():
            logits = model(torch.tensor([source]), torch.tensor([[BOS, *written]]))
        written.append(int(logits[0, -1].argmax()))
    return written


def batch() -> Tensor:
    longest = max(map(len, SOURCES))
    return torch.tensor([source + [PAD] * (longest - len(source)) for source in SOURCES])


@pytest.mark.parametrize("max_length", [1, 5, 20])
def test_a_batch_gives_what_each_sentence_gives_alone(model, max_length):
    written = greedy_decode(model, batch(), BOS, EOS, max_length)
    expected = [alone(model, source, max_length) for source in SOURCES]
    assert written.shape[1] == max(map(len, expected))
    assert written.tolist() == [row + [EOS] * (written.shape[1] - len(row)) for row in expected]


def test_the_sentences_of_the_test_end_at_different_places(model):
    lengths = {len(alone(model, source, 20)) for source in SOURCES}
    assert len(lengths) >= 5 and 20 in lengths


def test_writing_nothing_is_refused(model):
    with pytest.raises(ValueError, match="1 to max_length=20 tokens; 0 were asked for"):
        greedy_decode(model, batch(), BOS, EOS, 0)


def test_a_real_model_writes_what_it_writes_alone():
    torch.manual_seed(0)
    config = TransformerConfig(9, d_model=8, n_heads=2, d_ff=16, n_layers=2, max_length=20, pre_norm=True)
    model = Transformer(config).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    written = greedy_decode(model, batch(), BOS, EOS, 6).tolist()
    assert written == [row + [EOS] * (6 - len(row)) for row in (alone(model, source, 6) for source in SOURCES)]
    assert len({tuple(row) for row in written}) > 1
    assert all(parameter.grad is None for parameter in model.parameters())
