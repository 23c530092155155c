"""Tests that each step of a reordered decoding state matches a step that processes the whole text again."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.decoding_models import BOS, FORMS, GPT, LLAMA, PAD, language_model, name, translator
from transformer_lab.generation.decode import generate
from transformer_lab.generation.decoding_state import TextState, TranslationState

SOURCE = torch.tensor([[4, 5, 6, 7], [8, 3, 3, 3], [1, 2, 9, 3]])


@pytest.mark.parametrize("length", [0, 18])
def test_rejects_lengths_outside_the_model_range(length):
    for kind, inputs in ((TextState, [language_model(**GPT)]), (TranslationState, [translator(), SOURCE])):
        with pytest.raises(ValueError, match=rf"1 to 17 tokens \(max_length\); got {length}"):
            kind(*inputs, length)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["text", "translation"])
def test_reordered_rows_continue_the_selected_texts(kind):
    tokens, more, rows = torch.randint(3, 11, (3, 4)), torch.randint(3, 11, (6, 1)), torch.tensor([0, 0, 1, 1, 2, 2])
    again, last = torch.tensor([1, 1, 2, 3, 5, 4]), torch.randint(3, 11, (6, 1))
    if kind == "text":
        model = language_model(6, **LLAMA)
        state, whole = TextState(model, 6), lambda text: model(text)[:, -1]
    else:
        model, source = translator(6), torch.tensor([[4, 5, 6], [7, 8, 0], [9, 10, 3]])
        state, whole = TranslationState(model, source, 6), lambda text: model(source[rows], text)[:, -1]
    state.next_logits(tokens)
    state.reorder(rows)
    text = torch.cat([tokens[rows], more], dim=1)
    assert_close(state.next_logits(more), whole(text), atol=1e-5, rtol=1e-5)
    state.reorder(again)
    text = torch.cat([text[again], last], dim=1)
    if kind == "translation":
        assert rows[again].tolist() == [0, 0, 1, 1, 2, 2]  # rows for the same sentence stay adjacent
    assert_close(state.next_logits(last), whole(text), atol=1e-5, rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("form", [form for form in FORMS if form["pad_id"] == PAD], ids=name)
def test_next_token_is_predicted_after_last_real_token(form):
    model = language_model(8, **form)
    rows = torch.tensor([[PAD, PAD, 3, 4], [3, 4, PAD, PAD], [5, PAD, 6, PAD], [7, 8, 9, 10]])
    alone = [[3, 4], [3, 4], [5, 6], [7, 8, 9, 10]]
    expected = torch.cat([model(torch.tensor([text]))[:, -1] for text in alone])
    assert_close(TextState(model, 6).next_logits(rows), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("form", [GPT, LLAMA], ids=name)
def test_only_the_last_real_position_reaches_the_head(form):
    model, observed = language_model(5, **form), []
    model.head.register_forward_hook(lambda _head, args, logits: observed.append((args[0].shape, logits.shape)))
    prompt = torch.tensor([[5, 6, 7], [8, 9, PAD]]) if model.config.pad_id == PAD else torch.tensor([[5, 6, 7]])
    generate(model, prompt, 3, temperature=0)
    assert observed == 3 * [((len(prompt), 24), (len(prompt), 11))]


@pytest.mark.parametrize("hidden", [True, False])
def test_single_token_needs_no_mask_without_masked_padding(hidden, monkeypatch):
    def recording_kernel(*inputs, **options):
        masks.append(options["attn_mask"])
        return original(*inputs, **options)

    masks, original = [], F.scaled_dot_product_attention
    model = translator(hide_target_padding=hidden)
    monkeypatch.setattr(F, "scaled_dot_product_attention", recording_kernel)
    # with gradients enabled, the state uses the plain path
    TranslationState(model, torch.tensor([[4, 5]]), 9).next_logits(torch.tensor([[BOS]]))
    self_attention_masks = masks[3::2]  # the first three masks belong to the encoder
    assert [mask is not None for mask in self_attention_masks] == 3 * [hidden]
