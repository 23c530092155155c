"""Tests with attempts whose explanation was once incomplete. Each attempt is a correct answer with changed lines."""

import pytest

from tests.transformer_course.exercises.blind import Attempt, check
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

EXERCISES = every_exercise()
ATTEMPTS = {
    "top-k fills with zeros": (
        "sample_next", [("logits < smallest, -torch.inf", "logits < smallest, 0.0")], ["top_k_fills_with_zero"],
    ),
    "the mask is inverted, but fully masked queries are handled correctly": (
        "masked_attention", [("masked_fill(~allowed,", "masked_fill(mask,")], ["mask_inverted"],
    ),
    "overflow, and sums without keepdim": (
        "softmax",
        [("torch.exp(scores - largest)", "torch.exp(scores)"), (".sum(dim=-1, keepdim=True)", ".sum(dim=-1)")],
        ["overflows", "sums_without_their_axis"],
    ),
    "only the causal mask": (
        "decoder_mask", [("return real & not_later", "return not_later[None, None]")], ["padding_forgotten"],
    ),
    "both matrices start at zero, and no scale": (
        "LoRALinear",
        [("self.scale * ", ""), ("        self.scale = ", "        nn.init.zeros_(self.a)\n        self.scale = ")],
        ["a_starts_at_zero", "left_out_scaled"],
    ),
    "bos counts, and only one source is used": (
        "beam_search",
        [("5 + len(found[0])", "6 + len(found[0])"), ("for sentence in source:", "for sentence in source[:1]:")],
        ["length_with_bos", "first_only_output"],
    ),
    "no length penalty, and the beam is too wide by one": (
        "beam_search",
        [("/ ((5 + len(found[0])) / 6) ** length_penalty", ""), ("[:beam_size]", "[: beam_size + 1]")],
        ["beam_too_wide", "part_left_out_scores"],
    ),
    "a far-fetched generated mistake has the same behavior": (
        "rms_norm",
        [("torch.sqrt(wide.square().mean(dim=-1, keepdim=True) + eps)", "(wide.square().mean(-1, keepdim=True) + eps)"),
         ("(wide / root_mean_square).to(x.dtype)", "wide / root_mean_square")],
        ["call_left_out_root", "call_left_out_narrow"],
    ),
    "a far-fetched mistake in two steps": (
        "cosine_attention", [("dim=-1, keepdim", "dim=1, keepdim")], ["number_query_lengths"],
    ),
    "copied from a popular tutorial": (
        "layer_norm",
        [("square().mean(dim=-1, keepdim=True)", "square().sum(dim=-1, keepdim=True) / (x.shape[-1] - 1)"),
         ("torch.sqrt(variance + eps)", "(torch.sqrt(variance) + eps)")],
        ["mean_by_variance", "moved_with_eps"],
    ),
    "sorted within each batch, and a mask of two axes": (
        "make_batches",
        [("sorted(pairs, key=lambda pair: len(pair[0]))", "pairs"), ("[:, None, None, :]", ""),
         ("ordered[start : start + batch_size], strict",
          "sorted(ordered[start : start + batch_size], key=lambda pair: len(pair[0])), strict")],
        ["sorted_within_batches", "mask_without_axes"],
    ),
    "padded with 0, and bos is not removed": (
        "greedy_decode", [("ended, eos_id, best", "ended, 0, best"), ("target[:, 1:]", "target")],
        ["filled_up_with_zero", "left_out_output"],
    ),
    "multiplied by log 2, and the ratio is inverted": (
        "bits_per_byte", [("n_tokens / (n_bytes * math.log(2))", "n_bytes / n_tokens * math.log(2)")],
        ["values_exchanged_n_tokens", "operator_bits"],
    ),
    "infinity where a probability is rounded to 0": (
        "next_token_loss",
        [("torch.log_softmax(logits[:, :-1], dim=-1)", "logits[:, 1:].softmax(dim=-1).log()"),
         ("tokens[:, 1:]", "tokens[:, :-1]"), ("losses[targets != pad_id]", "losses")],
        ["shifted_the_wrong_way", "wrong_input_real"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def session():
    return Session(EXERCISES)


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_recognizes_mistakes(attempt, session):
    name, edits, mistakes = ATTEMPTS[attempt]
    code = EXERCISES[name].solution
    for right, wrong in edits:
        assert right in code
        code = code.replace(right, wrong)
    verdict = check(Attempt(name, attempt, "one", code, frozenset()), session)
    assert list(verdict.mistakes) == mistakes, verdict.message
