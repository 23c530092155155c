"""Decoding states: at every step they say what reading the whole text again would say, whatever rows go on."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from tests.helpers.decoding_models import BOS, FORMS, GPT, LLAMA, PAD, language_model, name, translator
from transformer_lab.generation.decode import generate
from transformer_lab.generation.decoding_state import (
    DecodingState,
    TextState,
    TranslationState,
    WindowedTextState,
)

SOURCE = torch.tensor([[4, 5, 6, 7], [8, 3, 3, 3], [1, 2, 9, 3]])


def test_every_kind_of_model_has_a_decoding_state():
    text = [TextState(language_model(**GPT), 6), WindowedTextState(language_model(**GPT))]
    states = [*text, TranslationState(translator(), SOURCE, 6)]
    assert all(isinstance(state, DecodingState) for state in states)


@pytest.mark.parametrize("length", [0, 18])
def test_a_length_that_the_model_does_not_have_is_refused(length):
    for kind, inputs in ((TextState, [language_model(**GPT)]), (TranslationState, [translator(), SOURCE])):
        with pytest.raises(ValueError, match=f"1 to max_length=17 tokens; {length} were asked for"):
            kind(*inputs, length)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["text", "translation"])
def test_rows_that_change_places_go_on_from_where_the_others_were(kind):
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
        assert rows[again].tolist() == [0, 0, 1, 1, 2, 2]  # rows about one sentence stay next to each other
    assert_close(state.next_logits(last), whole(text), atol=1e-5, rtol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("form", [form for form in FORMS if form["pad_id"] == PAD], ids=name)
def test_the_next_token_follows_the_last_real_one_on_whichever_side_padding_is(form):
    model = language_model(8, **form)
    rows = torch.tensor([[PAD, PAD, 3, 4], [3, 4, PAD, PAD], [5, PAD, 6, PAD], [7, 8, 9, 10]])
    alone = [[3, 4], [3, 4], [5, 6], [7, 8, 9, 10]]
    expected = torch.cat([model(torch.tensor([text]))[:, -1] for text in alone])
    assert_close(TextState(model, 6).next_logits(rows), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("form", [GPT, LLAMA], ids=name)
def test_only_the_last_real_position_of_a_prompt_reaches_the_head(form):
    model, seen = language_model(5, **form), []
    model.head.register_forward_hook(lambda _head, args, logits: seen.append((args[0].shape, logits.shape)))
    prompt = torch.tensor([[5, 6, 7], [8, 9, PAD]]) if model.config.pad_id == PAD else torch.tensor([[5, 6, 7]])
    generate(model, prompt, 3, temperature=0)
    assert seen == 3 * [((len(prompt), 24), (len(prompt), 11))]


@pytest.mark.parametrize("hidden", [True, False])
def test_a_single_token_of_a_target_needs_a_mask_only_where_padding_is_hidden(hidden, monkeypatch):
    def watched(*inputs, **options):
        masks.append(options["attn_mask"])
        return original(*inputs, **options)

    masks, original = [], F.scaled_dot_product_attention
    model = translator(hide_target_padding=hidden)
    monkeypatch.setattr(F, "scaled_dot_product_attention", watched)
    TranslationState(model, torch.tensor([[4, 5]]), 9).next_logits(torch.tensor([[BOS]]))  # with gradients: plain
    of_self_attention = masks[3::2]  # after the encoder's
    assert [mask is not None for mask in of_self_attention] == 3 * [hidden]


@torch.no_grad()
@pytest.mark.parametrize("form", [GPT, LLAMA], ids=["GPT", "Llama"])
def test_past_its_length_a_model_goes_on_from_the_last_tokens(form):
    """Its window: all the text, until max_length=17 are read; then the last 9, and what follows them."""
    model = language_model(1, **form)
    prompt = torch.tensor([[5, 6, 7], [9, 8, 9]])
    text, start = prompt, 0
    for _ in range(43):
        if text.shape[1] - start > 17:
            start = text.shape[1] - 9
        text = torch.cat([text, model(text[:, start:])[:, -1].argmax(dim=1, keepdim=True)], dim=1)
    assert start > 2 * 9
    assert torch.equal(generate(model, prompt, 43, temperature=0, past_max_length=True), text)
    assert torch.equal(generate(model, prompt, 15, temperature=0), text[:, :18])
    with pytest.raises(ValueError, match="1 to max_length=17 tokens; 18 were asked for"):
        generate(model, prompt, 16)


@torch.no_grad()
def test_padding_and_rows_that_are_dropped_change_nothing_of_a_window():
    model = language_model(1, **GPT)
    texts = torch.randint(3, 11, (3, 15), generator=torch.Generator().manual_seed(1))
    texts[0, :5] = texts[2, 3:5] = texts[2, 11:] = PAD
    rows = [text[text != PAD][None] for text in texts]  # what each has, without padding
    state, n_columns = WindowedTextState(model), 15
    state.next_logits(texts)
    for new in torch.randint(3, 11, (30, 3, 1), generator=torch.Generator().manual_seed(2)):
        if len(rows) == 3 and n_columns == 16:
            state.reorder(torch.tensor([2, 0]))
            rows = [rows[2], rows[0]]
        rows = [torch.cat([row, token[None]], dim=1) for row, token in zip(rows, new, strict=False)]
        n_columns += 1
        if n_columns > 17:  # the columns in the cache, padding included
            rows, n_columns = [row[:, -9:] for row in rows], 9
        expected = torch.cat([model(row)[:, -1] for row in rows])
        assert_close(state.next_logits(new[: len(rows)]), expected, atol=1e-5, rtol=1e-5)
    assert len(rows) == 2


def test_a_prompt_longer_than_the_model_takes_is_read_from_its_last_tokens():
    model = language_model(1, **GPT)
    prompt = torch.randint(3, 11, (2, 40), generator=torch.Generator().manual_seed(1))
    generated = generate(model, prompt, 5, temperature=0, past_max_length=True)[:, 40:]
    assert torch.equal(generated, generate(model, prompt[:, -9:], 5, temperature=0)[:, 9:])
