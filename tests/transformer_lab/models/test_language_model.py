"""Test the language model with every option against a reference that computes one text at a time."""

from dataclasses import replace
from typing import Any, get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import grad
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.language_models import PAD, POSITIONS, SMALL, any_positions, drawn
from tests.helpers.reference_language_model import logits_of
from tests.helpers.strategies import generators
from transformer_lab.attention.masks import causal_mask
from transformer_lab.attention.positions import LinearScaling
from transformer_lab.layers.feed_forward import FeedForwardName
from transformer_lab.layers.norms import NormName
from transformer_lab.models.language_model import LanguageModel, positions_of
from transformer_lab.models.language_model_config import LanguageModelConfig, NormPlacement, SlidingWindow

SIZES = {"d_model": 12, "n_heads": 3, "d_ff": 17, "n_layers": 2, "max_length": 13}


def padded(texts: list[list[int]], gaps: list[list[int]]) -> Tensor:
    """Join texts to a batch with gaps[i][j] padding tokens before token j of text i and further padding at the end."""
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
    d_k=st.sampled_from([None, 4]),
    d_ff=st.just(7),
    n_layers=st.just(2),
    max_length=st.just(13),
    dropout=st.just(0.0),
    positions=st.sampled_from(POSITIONS),
    rotary_base=st.sampled_from([10.0, 10000.0]),
    rotary_scaling=st.sampled_from([None, LinearScaling(3.0)]),
    window=st.sampled_from(
        [None, SlidingWindow(1), SlidingWindow(2, (False, True), rotary_base=7.0), SlidingWindow(3)]
    ),
    norm=st.sampled_from(get_args(NormName)),
    norm_eps=st.sampled_from([1e-5, 0.1]),
    norm_placement=st.sampled_from(get_args(NormPlacement)),
    qk_norm=st.booleans(),
    feed_forward=st.sampled_from(get_args(FeedForwardName)),
    bias=st.booleans(),
    qkv_bias=st.sampled_from([None, True, False]),
    tie_embeddings=st.booleans(),
    scaled_embeddings=st.booleans(),
    pad_id=st.just(PAD),
)


@given(config=configs, texts=texts, rng=generators(), data=st.data())
def test_padded_batch_matches_single_texts(config, texts, rng, data):
    gaps = [data.draw(st.lists(st.integers(0, 1), min_size=len(text), max_size=len(text))) for text in texts]
    tokens = padded(texts, gaps)
    model = drawn(config, rng)
    logits = model(tokens)
    for row, text in enumerate(texts):
        expected = logits_of(dict(model.named_parameters()), config, torch.tensor(text))
        # The sinusoids are stored in float32.
        assert_close(logits[row][tokens[row] != PAD], expected, rtol=1e-5, atol=1e-5)


@given(config=configs, texts=texts, rng=generators(), n_new=st.integers(1, 3))
@torch.no_grad()
def test_cached_logits_match_a_single_pass(config, texts, rng, n_new):
    tokens = padded(texts, [[1] * len(text) for text in texts])
    model = drawn(config, rng)
    cache = model.new_cache()
    parts = [model(part, cache) for part in tokens.split(n_new, dim=1)]
    assert_close(torch.cat(parts, dim=1)[tokens != PAD], model(tokens)[tokens != PAD])


@pytest.mark.parametrize(
    "config",
    [
        LanguageModelConfig.gpt2(19, **SIZES, dropout=0.0),
        LanguageModelConfig.llama(19, **SIZES),
        LanguageModelConfig.llama(19, **SIZES | {"d_model": 24, "n_heads": 6}, n_kv_heads=2, rotary_base=500.0),
        LanguageModelConfig.llama(19, **SIZES, n_kv_heads=1, d_k=2, qk_norm=True),
        LanguageModelConfig.llama(
            19,
            **SIZES,
            n_kv_heads=1,
            d_k=6,
            qk_norm=True,
            norm_placement="both",
            feed_forward="geglu",
            tie_embeddings=True,
            scaled_embeddings=True,
            window=SlidingWindow(3, (True, False), rotary_base=10.0),
            rotary_base=1000.0,
            rotary_scaling=LinearScaling(8.0),
        ),
    ],
    ids=["GPT-2", "Llama 2", "Llama 3", "Qwen 3", "Gemma 3"],
)
def test_published_architectures_match_the_reference(config):
    rng = torch.Generator().manual_seed(0)
    model = drawn(config, rng)
    tokens, probe = torch.randint(0, 19, (2, 5), generator=rng), torch.randn(2, 5, 19, generator=rng).double()
    parameters = dict(model.named_parameters())
    expected = torch.stack([logits_of(parameters, config, text) for text in tokens])
    logits = model(tokens)
    assert_close(logits, expected)
    leaves = list(parameters.values())
    assert_close(grad((logits * probe).sum(), leaves), grad((expected * probe).sum(), leaves), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("pad_id", [None, PAD])
def test_local_blocks_have_no_gradient_beyond_the_window(positions, pad_id):
    config = replace(SMALL, positions=positions, pad_id=pad_id, window=SlidingWindow(3))
    model = drawn(config, torch.Generator().manual_seed(0))
    x: list[Tensor] = []
    model.embedding.register_forward_hook(lambda _module, _args, output: x.append(output) or output.requires_grad_())
    logits = model(torch.tensor([[1, 2, 4, 5, 6, 7, 8, 9]]))
    for position in range(8):  # each of the two blocks reaches back two positions
        reached = grad(logits[0, position].square().sum(), x, retain_graph=True)[0][0].abs().sum(dim=-1) > 0
        assert reached.tolist() == [position - 4 <= i <= position for i in range(8)]


@pytest.fixture
def kernel_options(monkeypatch):
    """Record the mask and the ``is_causal`` argument of each call to torch's kernel."""

    def recording_kernel(*inputs: Tensor, **options: Any) -> Tensor:
        observed.append((options.get("attn_mask"), options.get("is_causal", False)))
        return original(*inputs, **options)

    observed, original = [], F.scaled_dot_product_attention
    monkeypatch.setattr(F, "scaled_dot_product_attention", recording_kernel)
    return observed


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "none"])
def test_text_without_padding_needs_no_mask(positions, kernel_options):
    model = LanguageModel(replace(SMALL, positions=positions, pad_id=None))
    model(torch.tensor([[1, 2, 4, 5]]))
    assert kernel_options == 2 * [(None, True)]


def test_text_shorter_than_window_needs_no_mask(kernel_options):
    model = LanguageModel(replace(SMALL, window=SlidingWindow(4, (True, False)), pad_id=None))
    model(torch.tensor([[1, 2, 4, 5]]))
    assert kernel_options == 2 * [(None, True)]
    model(torch.tensor([[1, 2, 4, 5, 6]]))
    assert [is_causal for _, is_causal in kernel_options[2:]] == [False, True]
    assert kernel_options[2][0][0, 0].tolist() == causal_mask(5).triu(-3).tolist()


@any_positions
@torch.no_grad()
def test_single_new_token_without_padding_needs_no_mask(positions, kernel_options):
    model = LanguageModel(replace(SMALL, positions=positions, pad_id=None))
    cache = model.new_cache()
    model(torch.tensor([[1, 2, 4, 5]]), cache)
    kernel_options.clear()
    model(torch.tensor([[6]]), cache)
    biased = positions == "alibi"
    assert [(mask is None, is_causal) for mask, is_causal in kernel_options] == 2 * [(not biased, False)]
    if biased:
        assert all(bias.shape == (1, 6, 1, 5) and bias.isfinite().all() for bias, _ in kernel_options)


@torch.no_grad()
def test_new_tokens_are_aligned_with_the_last_keys(kernel_options):
    model = LanguageModel(replace(SMALL, pad_id=None))
    cache = model.new_cache()
    model(torch.tensor([[1, 2, 4]]), cache)
    kernel_options.clear()
    model(torch.tensor([[5, 6]]), cache)
    assert [mask.tolist() for mask, _ in kernel_options] == 2 * [[[True] * 4 + [False], [True] * 5]]


@any_positions
@pytest.mark.parametrize("n_kv_heads", [None, 2])
def test_kernel_mask_matches_an_explicit_mask(positions, n_kv_heads):
    """Pass an explicit mask by giving the model a padding token, although the text contains no padding."""
    config = replace(SMALL, positions=positions, n_kv_heads=n_kv_heads, pad_id=None)
    masked = drawn(replace(config, pad_id=PAD), torch.Generator().manual_seed(0))
    unmasked = LanguageModel(config).double()
    unmasked.load_state_dict(masked.state_dict())
    tokens = torch.tensor([[1, 2, 4, 5, 6], [10, 9, 8, 7, 0]])
    assert_close(unmasked(tokens), masked(tokens))


@given(positions=st.sampled_from(POSITIONS), text=texts.map(lambda texts: texts[0]), rng=generators())
def test_padding_before_and_after_are_equivalent(positions, text, rng):
    model = drawn(replace(SMALL, positions=positions), rng)
    alone = model(torch.tensor([text]))[0]
    n = len(text)
    assert_close(model(torch.tensor([text + [PAD] * 4]))[0, :n], alone)
    assert_close(model(torch.tensor([[PAD] * 4 + text]))[0, 4:], alone)


@any_positions
def test_padding_only_text_gives_finite_logits_and_gradients(positions):
    model = LanguageModel(replace(SMALL, positions=positions))
    logits = model(torch.tensor([[PAD, PAD, PAD], [1, 2, PAD]]))
    assert logits.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in grad(logits.square().sum(), list(model.parameters())))


@any_positions
def test_one_layer_without_positions_ignores_order(positions):
    model = drawn(replace(SMALL, positions=positions, n_layers=1), torch.Generator().manual_seed(0))
    original, reordered = model(torch.tensor([[1, 2, 4, 5], [4, 1, 2, 5]]))[:, -1]
    assert torch.allclose(original, reordered) == (positions == "none")


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary", "alibi", "none"])
def test_models_without_a_position_table_extrapolate(positions):
    short = drawn(replace(SMALL, positions=positions), torch.Generator().manual_seed(0))
    long = LanguageModel(replace(SMALL, positions=positions, max_length=40)).double()
    long.load_state_dict(short.state_dict())
    text = torch.arange(40)[None] % 3 + 4
    assert_close(long(text[:, :13]), short(text[:, :13]))
    expected = logits_of(dict(short.named_parameters()), long.config, text[0])
    assert_close(long(text)[0], expected, rtol=1e-5, atol=1e-5)


def test_learned_positions_reject_a_different_length():
    long = LanguageModel(replace(SMALL, max_length=40))
    with pytest.raises(RuntimeError, match=r"size mismatch for positions.*\[13, 12\].*\[40, 12\]"):
        long.load_state_dict(LanguageModel(SMALL).state_dict())


def test_padding_does_not_count_as_a_position():
    tokens = torch.tensor([[PAD, PAD, 7, 8, 9], [7, PAD, 8, 9, PAD], [PAD, PAD, PAD, PAD, PAD]])
    where = positions_of(tokens, PAD)
    assert where[0].tolist() == [0, 0, 0, 1, 2]
    assert where[1][tokens[1] != PAD].tolist() == [0, 1, 2]
    assert (where[2] == 0).all()


@pytest.mark.parametrize(
    "tokens, message",
    [
        (torch.ones(1, 14, dtype=torch.int64), r"13 tokens \(max_length\); got 14"),
        (torch.ones(1, 0, dtype=torch.int64), r"13 tokens \(max_length\); got 0"),
        (torch.tensor([[1, 11]]), r"vocab_size − 1 = 10; got 11"),
        (torch.tensor([[1, -1]]), r"vocab_size − 1 = 10; got -1"),
    ],
    ids=["too long", "empty", "out of vocabulary", "negative"],
)
@any_positions
def test_rejects_invalid_tokens(positions, tokens, message):
    with pytest.raises(ValueError, match=message):
        LanguageModel(replace(SMALL, positions=positions))(tokens)


@torch.no_grad()
@pytest.mark.parametrize("pad_id", [None, PAD])
def test_next_logits_belong_to_the_last_real_token(pad_id):
    model = drawn(replace(SMALL, pad_id=pad_id), torch.Generator().manual_seed(0)).eval()
    tokens = torch.tensor([[1, 4, 5, 6], [2, 4, PAD, PAD], [PAD, 4, 2, PAD]])
    last = [3, 3, 3] if pad_id is None else [3, 1, 2]
    expected = model(tokens)[torch.arange(3), last]
    assert_close(model.next_logits(tokens), expected)
    cache = model.new_cache()
    model(tokens[:, :2], cache)
    if pad_id is None:
        assert_close(model.next_logits(tokens[:, 2:], cache), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("tied", [True, False])
def test_meta_device_round_trip_keeps_embeddings_tied(tied):
    model = LanguageModel(replace(SMALL, tie_embeddings=tied)).to("meta")
    assert (model.head.weight is model.embedding.weight) == tied
    model.to_empty(device="cpu")
    assert (model.head.weight is model.embedding.weight) == tied
