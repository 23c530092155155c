"""The language model in all its forms, against the plainest computation of one text at a time."""

import math
from dataclasses import replace
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import grad
from torch.nn import functional as F
from torch.testing import assert_close

from tests.one_text import logits_of
from tests.strategies import generators
from transformer_lab.language_model import LanguageModel, positions_of
from transformer_lab.language_model_config import FEED_FORWARDS, NORMS, POSITIONS, LanguageModelConfig

PAD = 3
SMALL = LanguageModelConfig(
    vocab_size=11, d_model=12, n_heads=6, n_kv_heads=2, d_ff=7, n_layers=2, max_length=13, dropout=0.0, pad_id=PAD
)
SIZES = {"d_model": 12, "n_heads": 3, "d_ff": 17, "n_layers": 2, "max_length": 13}
any_positions = pytest.mark.parametrize("positions", POSITIONS)


def drawn(config: LanguageModelConfig, rng: torch.Generator) -> LanguageModel:
    """A model in float64 in which all parameters matter: as they are drawn for training, attention hardly does."""
    model = LanguageModel(config).double()
    for name, parameter in model.named_parameters():
        torch.nn.init.normal_(parameter, mean=float("norm" in name and "weight" in name), std=0.5, generator=rng)
    return model


def padded(texts: list[list[int]], gaps: list[list[int]]) -> Tensor:
    """Write texts into one batch with gaps[i][j] times padding before token j of text i, and the rest at its end."""
    rows = [[x for token, gap in zip(text, before, strict=False) for x in [PAD] * gap + [token]]
            for text, before in zip(texts, gaps, strict=True)]  # fmt: skip
    n = max(map(len, rows))
    return torch.tensor([row + [PAD] * (n - len(row)) for row in rows])


texts = st.lists(st.lists(st.integers(0, 10).filter(PAD.__ne__), min_size=1, max_size=5), min_size=2, max_size=3)
configs = st.builds(
    LanguageModelConfig,
    vocab_size=st.just(11),
    d_model=st.just(12),
    n_heads=st.just(6),
    n_kv_heads=st.sampled_from([None, 1, 2, 3, 6]),
    d_ff=st.just(7),
    n_layers=st.just(2),
    max_length=st.just(13),
    dropout=st.just(0.0),
    positions=st.sampled_from(POSITIONS),
    rotary_base=st.sampled_from([10.0, 10000.0]),
    norm=st.sampled_from(list(NORMS)),
    norm_eps=st.sampled_from([1e-5, 0.1]),
    feed_forward=st.sampled_from(list(FEED_FORWARDS)),
    bias=st.booleans(),
    tied=st.booleans(),
    pad_id=st.just(PAD),
)


@given(config=configs, texts=texts, rng=generators(), data=st.data())
def test_in_a_batch_with_padding_anywhere_each_text_is_what_it_is_alone(config, texts, rng, data):
    gaps = [data.draw(st.lists(st.integers(0, 1), min_size=len(text), max_size=len(text))) for text in texts]
    tokens = padded(texts, gaps)
    model = drawn(config, rng)
    logits = model(tokens)
    for row, text in enumerate(texts):
        expected = logits_of(dict(model.named_parameters()), config, torch.tensor(text))
        # The sinusoids are kept in float32.
        assert_close(logits[row][tokens[row] != PAD], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "config",
    [
        LanguageModelConfig.gpt2(19, **SIZES, dropout=0.0),
        LanguageModelConfig.llama(19, **SIZES),
        LanguageModelConfig.llama(19, **SIZES | {"d_model": 24, "n_heads": 6}, n_kv_heads=2, rotary_base=500.0),
    ],
    ids=["GPT-2", "Llama 2", "Llama 3"],
)
def test_outputs_and_gradients_of_the_published_kinds_are_those_of_the_plain_computation(config):
    rng = torch.Generator().manual_seed(0)
    model = drawn(config, rng)
    tokens, probe = torch.randint(0, 19, (2, 5), generator=rng), torch.randn(2, 5, 19, generator=rng).double()
    parameters = dict(model.named_parameters())
    expected = torch.stack([logits_of(parameters, config, text) for text in tokens])
    logits = model(tokens)
    assert_close(logits, expected)
    leaves = list(parameters.values())
    assert_close(grad((logits * probe).sum(), leaves), grad((expected * probe).sum(), leaves), rtol=1e-6, atol=1e-6)


@given(positions=st.sampled_from(POSITIONS), text=texts.map(lambda texts: texts[0]), rng=generators())
def test_padding_means_the_same_before_and_after_a_text(positions, text, rng):
    model = drawn(replace(SMALL, positions=positions), rng)
    alone = model(torch.tensor([text]))[0]
    n = len(text)
    assert_close(model(torch.tensor([text + [PAD] * 4]))[0, :n], alone)
    assert_close(model(torch.tensor([[PAD] * 4 + text]))[0, 4:], alone)


@any_positions
def test_a_text_of_nothing_but_padding_gives_finite_numbers(positions):
    model = LanguageModel(replace(SMALL, positions=positions))
    logits = model(torch.tensor([[PAD, PAD, PAD], [1, 2, PAD]]))
    assert logits.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in grad(logits.square().sum(), list(model.parameters())))


@any_positions
def test_without_positions_alone_the_order_of_what_came_before_makes_no_difference_to_one_layer(positions):
    model = drawn(replace(SMALL, positions=positions, n_layers=1), torch.Generator().manual_seed(0))
    one, other = model(torch.tensor([[1, 2, 4, 5], [4, 1, 2, 5]]))[:, -1]
    assert torch.allclose(one, other) == (positions == "none")


def parameter_count(config: LanguageModelConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in LanguageModel(config).parameters())


def test_gpt_2_has_as_many_parameters_as_published():
    assert parameter_count(LanguageModelConfig.gpt2()) == 124_439_808


def test_llama_2_has_as_many_parameters_as_published():
    assert parameter_count(LanguageModelConfig.llama()) == 6_738_415_616


def test_llama_3_has_as_many_parameters_as_published():
    llama3 = LanguageModelConfig.llama(128_256, n_kv_heads=8, d_ff=14_336, max_length=8192, rotary_base=500_000.0)
    assert parameter_count(llama3) == 8_030_261_248


@any_positions
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("feed_forward", FEED_FORWARDS)
def test_every_kind_learns_in_one_step(positions, norm, feed_forward):
    torch.manual_seed(0)
    tokens = torch.tensor([[1, 2, 4, 5, 6], [7, 8, PAD, PAD, PAD]])

    def loss(model: LanguageModel) -> Tensor:
        return F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:], ignore_index=PAD)

    for bias, tied, n_kv_heads, pad_id in product([True, False], [True, False], [None, 1], [None, PAD]):
        kind = {"positions": positions, "norm": norm, "feed_forward": feed_forward, "bias": bias, "tied": tied}
        model = LanguageModel(replace(SMALL, **kind, n_kv_heads=n_kv_heads, pad_id=pad_id))
        before = loss(model)
        before.backward()
        for name, parameter in model.named_parameters():  # a bias on all keys alike drops out of the softmax
            assert (parameter.grad != 0).any() or name.endswith("w_k.bias")
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        assert loss(model) < before


def test_one_switch_removes_every_bias():
    def biases(**others: object) -> list[str]:
        model = LanguageModel(replace(SMALL, n_layers=1, **others))
        return [name for name, _ in model.named_parameters() if "bias" in name]

    assert len(biases()) == 4 + 2 + 2 + 1  # attention, feed-forward network, its norms, the norm at the end
    assert biases(bias=False) == []
    assert len(biases(norm="rms", feed_forward="swiglu")) == 4


def test_tied_embeddings_are_also_the_last_layer_s_weights_and_untied_ones_are_not():
    tied, untied = LanguageModel(SMALL), LanguageModel(replace(SMALL, tied=False))
    assert tied.head.weight is tied.embedding.weight
    assert untied.head.weight is not untied.embedding.weight
    assert parameter_count(replace(SMALL, tied=False)) - parameter_count(SMALL) == 11 * 12


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi", "none"])
def test_what_stores_no_table_goes_on_past_the_length_it_was_made_for(positions):
    short = drawn(replace(SMALL, positions=positions), torch.Generator().manual_seed(0))
    long = LanguageModel(replace(SMALL, positions=positions, max_length=40)).double()
    long.load_state_dict(short.state_dict())
    text = torch.arange(40)[None] % 3 + 4
    assert_close(long(text[:, :13]), short(text[:, :13]))
    expected = logits_of(dict(short.named_parameters()), long.config, text[0])
    assert_close(long(text)[0], expected, rtol=1e-5, atol=1e-5)


def test_a_learned_table_does_not_fit_another_length():
    long = LanguageModel(replace(SMALL, max_length=40))
    with pytest.raises(RuntimeError, match=r"size mismatch for positions.*\[13, 12\].*\[40, 12\]"):
        long.load_state_dict(LanguageModel(SMALL).state_dict())


@any_positions
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_it_computes_in_the_type_of_its_parameters(positions, dtype):
    torch.manual_seed(0)
    model = LanguageModel(replace(SMALL, positions=positions))
    tokens = torch.tensor([[1, 2, 4, 5], [PAD, 6, 7, 8]])
    exact = model(tokens)
    logits = model.to(dtype)(tokens)
    assert logits.dtype == dtype
    assert_close(logits.float(), exact, rtol=0, atol=0.02 * exact.abs().max().item())


@any_positions
def test_it_computes_under_autocast(positions):
    torch.manual_seed(0)
    model = LanguageModel(replace(SMALL, positions=positions))
    tokens = torch.tensor([[1, 2, 4, 5], [PAD, 6, 7, 8]])
    exact = model(tokens)
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(tokens)
    assert logits.dtype == torch.bfloat16
    assert_close(logits.float(), exact, rtol=0, atol=0.02 * exact.abs().max().item())


def test_parameters_start_as_those_of_gpt_2():
    torch.manual_seed(0)
    config = replace(SMALL, vocab_size=97, d_model=120, d_ff=240, n_layers=8, max_length=101, tied=False)
    for feed_forward in FEED_FORWARDS:
        for name, parameter in LanguageModel(replace(config, feed_forward=feed_forward)).named_parameters():
            if parameter.dim() == 1:
                assert (parameter == (0 if name.endswith("bias") else 1)).all()
            else:
                adds_up = name.endswith(("w_o.weight", "w_2.weight", "w_down.weight"))
                assert parameter.std().item() == pytest.approx(0.02 / math.sqrt(16) if adds_up else 0.02, rel=0.05)
                assert abs(parameter.mean().item()) < 0.001


@any_positions
def test_at_the_start_every_token_is_about_as_likely(positions):
    torch.manual_seed(0)
    logits = LanguageModel(replace(SMALL, positions=positions))(torch.randint(0, 11, (7, 13)))
    assert logits.softmax(dim=-1).sub(1 / 11).abs().max() < 0.05


def test_positions_do_not_drown_the_tokens():
    """Sinusoids are larger than embeddings of this size: unscaled, tokens would be a fiftieth of what blocks get."""
    torch.manual_seed(0)
    model = LanguageModel(replace(SMALL, d_model=516, positions="sinusoidal"))
    x = []
    model.blocks[0].register_forward_pre_hook(lambda _block, args: x.append(args[0]))
    model(torch.tensor([[1, 2, 4], [5, 6, 7]]))
    tokens_apart, positions_apart = (x[0][0] - x[0][1]).norm(), (x[0][:, 0] - x[0][:, 2]).norm()
    assert tokens_apart > positions_apart / 3


@pytest.mark.parametrize("share", ["dropout", "attention_dropout"])
def test_what_is_dropped_is_dropped_in_training_only(share):
    torch.manual_seed(0)
    model = drawn(replace(SMALL, **{share: 0.5}), torch.Generator().manual_seed(0))
    tokens = torch.tensor([[1, 2, 4, 5]])
    assert not torch.allclose(model(tokens), model(tokens))
    model.eval()
    assert_close(model(tokens), drawn(SMALL, torch.Generator().manual_seed(0))(tokens))


def test_dropout_is_on_the_embeddings_and_on_what_each_sublayer_adds():
    model = LanguageModel(replace(SMALL, dropout=0.5, attention_dropout=0.25))
    seen = []
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Dropout):
            module.register_forward_hook(lambda _module, _args, _output, name=name: seen.append(name))
    model(torch.tensor([[1, 2]]))
    assert seen == ["dropout", "blocks.0.dropout", "blocks.0.dropout", "blocks.1.dropout", "blocks.1.dropout"]


def test_padding_counts_for_no_position():
    tokens = torch.tensor([[PAD, PAD, 7, 8, 9], [7, PAD, 8, 9, PAD], [PAD, PAD, PAD, PAD, PAD]])
    where = positions_of(tokens, PAD)
    assert where[0].tolist() == [0, 0, 0, 1, 2]
    assert where[1][tokens[1] != PAD].tolist() == [0, 1, 2]
    assert (where[2] == 0).all()


@pytest.mark.parametrize(
    "tokens, message",
    [
        (torch.ones(1, 14, dtype=torch.int64), r"max_length=13 tokens; got 14"),
        (torch.ones(1, 0, dtype=torch.int64), r"max_length=13 tokens; got 0"),
        (torch.tensor([[1, 11]]), r"vocab_size − 1 = 10; got 11"),
        (torch.tensor([[1, -1]]), r"vocab_size − 1 = 10; got -1"),
    ],
    ids=["too long", "empty", "out of vocabulary", "negative"],
)
@any_positions
def test_tokens_it_cannot_take_are_named(positions, tokens, message):
    with pytest.raises(ValueError, match=message):
        LanguageModel(replace(SMALL, positions=positions))(tokens)


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"norm": "batch"}, "norm must be one of layer, rms; got norm='batch'"),
        ({"positions": "rope"}, "one of learned, sinusoidal, rotary, alibi, none; got positions='rope'"),
        ({"feed_forward": "glu"}, "one of relu, gelu, silu, swiglu; got feed_forward='glu'"),
        ({"n_kv_heads": 4}, "n_kv_heads must divide n_heads; got n_heads=6, n_kv_heads=4"),
        ({"n_kv_heads": 0}, "n_heads=6, n_kv_heads=0"),
        ({"n_heads": 5}, "n_heads must divide d_model; got d_model=12, n_heads=5"),
        ({"d_model": 18, "positions": "rotary"}, "even number of features in each head; got d_model=18, n_heads=6"),
        ({"d_model": 15, "n_heads": 3, "n_kv_heads": 1, "positions": "sinusoidal"}, "got d=15"),
        ({"pad_id": 11}, "pad_id must be a token; got pad_id=11, vocab_size=11"),
        ({"pad_id": -1}, "got pad_id=-1, vocab_size=11"),
        *(({name: 0}, f"{name} must be positive; got {name}=0") for name in ("vocab_size", "d_model", "n_heads")),
        *(({name: -1}, f"{name} must be positive; got {name}=-1") for name in ("d_ff", "n_layers", "max_length")),
    ],
    ids=str,
)
def test_a_configuration_that_cannot_be_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        LanguageModel(replace(SMALL, **wrong))


def test_a_head_of_odd_width_is_fine_without_rotation():
    LanguageModel(replace(SMALL, d_model=18, positions="alibi"))(torch.tensor([[1, 2]]))
