"""Beam search: follow several translations at once."""

import itertools
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Wording
from transformer_course.exercises.lesson_08_training.greedy_decode import padded
from transformer_course.exercises.lesson_10_inference.beam_search.answer import STEPS, beam_search
from transformer_course.exercises.lesson_10_inference.beam_search.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model

Tree = Mapping[str, Mapping[str, float]]
"""For each word, the probabilities of the next words; ``<`` is bos and ``>`` is eos. Each word has only one position.
"""
N_PLACES = 9
"""Maximum number of target tokens for the models in the cases."""

GARDEN_PATH: Tree = {
    "<": {"a": 0.5, "b": 0.42}, "a": {"c": 0.5, "d": 0.4}, "b": {"e": 0.95}, "c": {"g": 0.6, "h": 0.3},
    "d": {"i": 0.5}, "e": {"f": 0.95}, "f": {">": 0.96}, "g": {">": 0.9}, "h": {">": 0.9}, "i": {">": 0.9},
}  # fmt: skip
"""The likeliest first word does not start the likeliest text."""
ONE_PARENT: Tree = {
    "<": {"a": 0.6, "b": 0.3}, "a": {"c": 0.5, "d": 0.44}, "b": {"e": 0.8}, "c": {"f": 0.5}, "d": {"g": 0.95},
    "e": {"h": 0.6}, "f": {"i": 0.9}, "g": {">": 0.95}, "h": {">": 0.9}, "i": {">": 0.9},
}  # fmt: skip
"""After the second word, the two best texts have the same first word."""
THIRD_BEST: Tree = {
    "<": {"a": 0.5, "b": 0.45}, "a": {"c": 0.5, "d": 0.41}, "b": {"e": 0.5, "f": 0.3}, "c": {"g": 0.62},
    "d": {"h": 0.97}, "e": {"i": 0.6}, "f": {"j": 0.7},
}  # fmt: skip
"""Among the texts of two words, the start of the likeliest text is only the third best."""
AT_ONCE: Tree = {"<": {">": 0.4, "a": 0.33}, "a": {"b": 0.98}, "b": {"c": 0.98}, "c": {">": 0.98}}
"""The best text is empty, but a search that adds log-probabilities after eos finds another text."""


def two_ends(short: float, ratio: float, n_long: int = 4) -> Tree:
    """Return a tree with a text of 2 tokens and a longer text with ``ratio`` times its log-probability.

    ``short`` is the probability of the short text. After 2 tokens, the longer text already has nearly all of its
    log-probability, so if the short text is ever ahead, it is ahead at that point.
    """
    begin, end = 0.45, 0.99 ** (n_long - 2)
    words = ["b", *"cdef"[: n_long - 2], ">"]
    long = {word: {then: 0.99} for word, then in itertools.pairwise(words)}
    return long | {"<": {"a": short / 0.9, "b": begin}, "a": {">": 0.9}, "b": {"c": short**ratio / begin / end}}


def beam_search_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(trees: Sequence[Tree], max_length: int, beam_size: int, length_penalty: float, shows: str) -> Case:
        model, source, bos, eos = _model_of(trees, rng)
        inputs = {"model": model, "source": source, "bos_id": bos, "eos_id": eos, "max_length": max_length}
        return Case({**inputs, "beam_size": beam_size, "length_penalty": length_penalty}, shows)

    return [
        case([GARDEN_PATH], 1, 1, 0.0, "one token, and a beam of 1"),
        case([GARDEN_PATH], 3, 1, 0.6, "3 tokens and a beam of 1: greedy decoding"),
        case([GARDEN_PATH], 3, 2, 0.0, "a beam of 2; the most likely first token misleads"),
        case([ONE_PARENT], 3, 2, 0.0, "a beam of 2; both texts continue the same one"),
        case([THIRD_BEST], 3, 2, 0.0, "a beam of 2; a beam of 3 would find another text"),
        case([AT_ONCE], 5, 2, 0.0, "an empty text is the best"),
        case([two_ends(0.3, 1.03)], 6, 2, 0.0, "a short text and a long one, no length penalty"),
        case([two_ends(0.45, 2.1)], 8, 2, 0.0, "a short text and a far less likely one, no length penalty"),
        case([two_ends(0.45, 3.05, 6)], 6, 2, 0.0, "a short text and one of max_length, no length penalty"),
        case([two_ends(0.3, 1.03)], 6, 2, 1.0, "a short text and a long one, length penalty 1"),
        case([two_ends(0.3, 1.45)], 6, 2, 2.0, "a short text and a long one, length penalty 2"),
        case([two_ends(0.4, 1.6)], 6, 2, 1.0, "a short text that is much better than a long one"),
        case([two_ends(0.45, 2.15, 5)], 7, 2, 2.0, "a short text that is just better than a long one"),
        case([two_ends(0.45, 1.965, 5)], 7, 2, 2.0, "a long text that is just better than a short one"),
        case([two_ends(0.158, 0.6526)], 5, 2, 2.0, "a long text that is the most likely, length penalty 2"),
        case([ONE_PARENT, two_ends(0.25, 0.8687), two_ends(0.3, 1.17)], 5, 3, 1.0, "3 sentences, a beam of 3"),
        case(
            [two_ends(0.3, 1.03), AT_ONCE, ONE_PARENT, GARDEN_PATH, two_ends(0.1, 0.4)], 7, 2, 0.5,
            "5 sentences that end at different times",
        ),
    ]  # fmt: skip


def _model_of(trees: Sequence[Tree], rng: torch.Generator) -> tuple[dict[str, object], Tensor, int, int]:
    """Describe a model that continues each sentence according to its tree; return the model, the sources, bos and eos.

    The rows of logits have different offsets, which do not change the probabilities. Every position and every sentence
    adds its own logits, so the rows of the transition table alone reveal nothing. After eos, the model predicts a token
    outside all trees. Words and eos are probable only where a tree contains them, and bos is never probable, so
    searches that stop after some number of finished texts find the same text. Token 0 is a word or unused, but never
    bos or eos.
    """
    words = [(number, word) for number, tree in enumerate(trees) for word in _positions(tree) if word not in "<>"]
    vocab_size = len(words) + 12
    ids = [0, *(1 + torch.randperm(vocab_size - 1, generator=rng)).tolist()]
    bos, eos, lure = (ids.pop() for _ in range(3))
    token = dict(zip(words, ids, strict=False))
    others = torch.ones(vocab_size)
    others[[bos, eos, lure, *token.values()]] = 1e-4
    transition, places = normal(rng, vocab_size, vocab_size), 1.5 * normal(rng, N_PLACES, vocab_size)
    for row in set(range(vocab_size)) - {bos}:
        transition[row, [eos, *token.values()]] -= 9.0
    sentences = normal(rng, len(trees), vocab_size)
    transition[eos] = _log_probabilities({lure: 0.4, eos: 0.01}, others, rng)
    for number, tree in enumerate(trees):
        ids_of = {"<": bos, ">": eos} | {word: token[number, word] for _, word in words if (number, word) in token}
        for word, position in _positions(tree).items():
            if word not in tree:
                continue
            wanted = _log_probabilities({eos: 1e-4} | {ids_of[w]: p for w, p in tree[word].items()}, others, rng)
            wanted += uniform(rng, -9, 9)
            if word == "<":  # all sentences share this row, so their logits differ only through their sources
                sentences[number] = wanted - places[0] - transition[bos]
            else:
                transition[ids_of[word]] = wanted - places[position]
        for word in tree.keys() - {"<"}:
            transition[ids_of[word]] -= sentences[number]
    if len(trees) == 1:
        transition[eos] -= sentences[0]
    source = torch.randperm(vocab_size, generator=rng)[: 2 * len(trees)].view(-1, 2)
    reading = normal(rng, vocab_size, vocab_size)
    reading[source[:, 1]] = sentences - reading[source[:, 0]]
    return describe_model("table_translator", transition=transition, reading=reading, places=places), source, bos, eos


def _positions(tree: Tree) -> dict[str, int]:
    """Map the words of a tree to their positions, with bos at position 0."""
    found = {"<": 0}
    reached = ["<"]
    for word in reached:  # the list grows during iteration
        for following in tree.get(word, {}):
            if following not in found and following != ">":
                found[following] = found[word] + 1
                reached.append(following)
    return found


def _log_probabilities(wanted: Mapping[int, float], others: Tensor, rng: torch.Generator) -> Tensor:
    """Return the logarithms of these probabilities, with the remainder distributed over the other tokens."""
    others = others * (0.5 + torch.rand(len(others), generator=rng))
    others[list(wanted)] = 0.0
    row = others / others.sum() * (1 - sum(wanted.values()))
    for token, probability in wanted.items():
        row[token] = probability
    return row.log()


EXERCISE = Exercise(
    reference=beam_search,
    steps=STEPS,
    cases=beam_search_cases,
    points=4,
    stretch=True,
    verified=(
        "All sequences in your beam compete at every step, finished sequences keep their log-probability, and you "
        "apply the length penalty once, at the end."
    ),
    hints=[
        "Take one sentence at a time, with a list of (sequence, log-probability) pairs that starts with one empty "
        "sequence. With a beam of 2 and a vocabulary of 10 tokens, how many candidates are there at the second step?",
        "The candidates at each step are every unfinished sequence extended by every token, with the token's "
        "log-probability added to the total, and every finished sequence unchanged. `log_softmax` turns logits into "
        "log-probabilities.",
        "`sorted(candidates, key=lambda candidate: candidate[1], reverse=True)[:beam_size]` is the next beam. It "
        "doesn't use the length penalty.",
        "After the last step, choose the sequence with the largest log-probability / ((5 + length) / 6) ** "
        "length_penalty, where the length includes eos. Pad it with eos.",
    ],
    messages={
        "part_left_out_extended: step": Wording(
            "You score a sequence by the log-probability of its last token alone, so an unlikely beginning costs "
            "nothing. Which number should you add to it?",
            summary="you keep only the log-probability of the last token of a sequence",
        ),
        "call_left_out_step_scores: logits": Wording(
            "You add up logits instead of log-probabilities. Adding 5 to all logits at a position changes no "
            "probability, but it adds 5 to your sum. Which function turns logits into log-probabilities?",
            summary="you add up logits instead of log-probabilities",
        ),
        "always_one_beams: extended": Wording(
            "{summary}, so the tokens after eos change their log-probability. What should happen to a finished "
            "sequence at the next step?",
            summary="you extend finished sequences as well",
            hints=[
                "A sequence ends at step 2. Which candidates should it give at step 3?",
                "A sequence whose last token is eos is finished: you keep it unchanged at the next step.",
                "The candidates from a finished sequence are `[(text, total)]`.",
            ],
        ),
        "part_left_out_scores: total": Wording(
            "You choose the sequence with the largest total, whatever its length. Every token lowers the total, so "
            "short sequences win too often. Divide each total by the penalty for the sequence's own length.",
            summary="you choose the best sequence regardless of its length",
            hints=["If you use a length, is it the length of the sequence or of the padded row?"],
        ),
        "operator_scores: (total) * (penalties(lengths(text)))": Wording(
            "{summary}. Log-probabilities are negative, so multiplying makes long sequences worse: −2 · 1.5 is −3. "
            "The length penalty should make long sequences better.",
            summary="you multiply the log-probability by the length penalty instead of dividing by it",
            hints=["What is −2 · 1.5, what is −2 / 1.5, and which is larger?"],
        ),
        "part_left_out_penalties: length": Wording(
            "{summary}. With a length penalty of 1, you divide the total of 4 tokens by twice as much as the total of "
            "2 tokens. What are (5 + 4) / 6 and (5 + 2) / 6?",
            summary="you compute the penalty from the length itself instead of (5 + length) / 6",
        ),
        "brackets_penalties: (5) + (length) / (6)": Wording(
            "Your penalty has the right terms, but Python divides before it adds: for a length of 4, you get 5.67 "
            "instead of 1.5. Where do you need parentheses?",
            summary="you leave out the parentheses around 5 + length",
            hints=["What is `5 + 4 / 6` in Python?"],
        ),
        "sibling_step_scores: torch.nn.functional.softmax(logits, dim=-1)": Wording(
            "{summary}. The probability of a sequence is the *product* of its tokens' probabilities. Which numbers "
            "should you add to get the logarithm of that product?",
            summary="you add up probabilities instead of log-probabilities",
        ),
        "call_left_out_pruned: candidates": Wording(
            "{summary}, so you lose likely candidates further down the list. By which number should you sort them?",
            summary="you keep the first `beam_size` candidates without sorting them",
        ),
        "turned_off_pruned: False": Wording(
            "{summary}, so you keep the least likely candidates. Which candidate should come first?",
            summary="you sort the candidates from the smallest log-probability to the largest",
        ),
        "slice_finished: text[:1]": Wording(
            "{summary}, so you keep extending most finished sequences. Which token of a finished sequence is eos?",
            summary="you check the first token of a sequence for eos instead of the last",
        ),
    },
    mistakes=MISTAKES,
    normalize=padded,
)
