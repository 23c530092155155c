"""The reference for ``beam_search``, and the same answer in steps, including the decisions in each round of the loop.

Beam searches differ in detail. Here, the candidates in a round are all unfinished texts, each extended by every token,
and the unchanged finished texts. The ``beam_size`` candidates with the largest log-probability survive. After
``max_length`` rounds, the text with the best score wins, finished or not. The score is the log-probability divided by
((5 + length) / 6) ** ``length_penalty``, where the length includes eos (equation 14 of Wu et al. 2016,
arXiv:1609.08144, without the coverage penalty). In the cases, two common variants find the same text: ranking the
candidates by score, and setting finished texts aside.
"""

import torch
from jaxtyping import Int
from torch import Tensor, nn

from transformer_course.steps import InSteps


def beam_search(
    model: nn.Module,
    source: Int[Tensor, "batch n_source"],
    bos_id: int,
    eos_id: int,
    max_length: int,
    beam_size: int,
    length_penalty: float,
) -> Int[Tensor, "batch n"]:
    """Return the text with the best score in each source's beam after max_length rounds, without bos."""
    output = []
    for sentence in source:
        beam: list[tuple[list[int], float]] = [([], 0.0)]  # texts with their log-probabilities
        for _ in range(max_length):
            candidates = [(text, total) for text, total in beam if text[-1:] == [eos_id]]  # finished texts
            for text, total in beam:
                if text[-1:] != [eos_id]:
                    logits = model(sentence[None], torch.tensor([[bos_id, *text]]))[0, -1]
                    steps = enumerate(logits.log_softmax(dim=-1).tolist())
                    candidates += [([*text, token], total + step) for token, step in steps]
            beam = sorted(candidates, key=lambda candidate: candidate[1], reverse=True)[:beam_size]
        text, _ = max(beam, key=lambda found: found[1] / ((5 + len(found[0])) / 6) ** length_penalty)
        output.append(text + [eos_id] * (max_length - len(text)))
    return torch.tensor(output)


def start():
    """begin with one empty text with log-probability 0 → the beam before the first round: one empty text"""
    return [([], 0.0)]


def shown(bos_id):
    """put bos in front of the text → the decoder input: bos and the text so far"""
    return lambda text: [bos_id, *text]


def logits(model):
    """call the model and take the last position → the logits of the next token, (vocab_size,)"""
    return lambda sentence, shown: model(sentence[None], torch.tensor([shown]))[0, -1]


def step_scores():
    """take the log-softmax of the logits → the log-probabilities of the next token"""
    return lambda logits: logits.log_softmax(dim=-1).tolist()


def finished(eos_id):
    """check whether the last token is eos → the test for finished texts"""
    return lambda text: text[-1:] == [eos_id]


def kept():
    """keep a finished text and its log-probability unchanged → the candidates from a finished text: itself"""
    return lambda text, total, next_scores: [(text, total)]


def extended():
    """extend an unfinished text by every token → the candidates from an unfinished text: one for each token"""
    return lambda text, total, next_scores: [
        ([*text, token], total + step) for token, step in enumerate(next_scores(text))
    ]


def rank():
    """rank the candidates by log-probability → the ranking of the candidates"""
    return lambda text, total: total


def pruned(beam_size, rank):
    """keep the `beam_size` best candidates → the beam of the next round"""
    return lambda candidates, n_texts: sorted(candidates, key=lambda found: rank(*found), reverse=True)[:beam_size]


def stop():
    """continue until the last round → the test for stopping early"""
    return lambda beam: False


def n_rounds(max_length):
    """run `max_length` rounds → the number of rounds"""
    return max_length


def beams(source, start, shown, logits, step_scores, finished, kept, extended, pruned, stop, n_rounds):
    """search separately for every sentence → the final beam of each sentence"""
    found = []
    for sentence in source:
        beam = start
        for _ in range(n_rounds):

            def next_scores(text, sentence=sentence):
                return step_scores(logits(sentence, shown(text)))

            variants = [(kept if finished(text) else extended)(text, total, next_scores) for text, total in beam]
            beam = pruned([candidate for variant in variants for candidate in variant], len(beam))
            if stop(beam):
                break
        found.append(beam)
    return found


def lengths():
    """count the tokens of a text, including eos → the length of a text"""
    return len


def penalties(length_penalty):
    """compute the length penalty → the length penalties: ((5 + length) / 6) to the power length_penalty"""
    return lambda length: ((5 + length) / 6) ** length_penalty


def scores(lengths, penalties):
    """divide the log-probability of a text by its length penalty → the score of a text"""
    return lambda text, total: total / penalties(lengths(text))


def best(beams, scores):
    """choose the text with the best score in each beam → the best text of each sentence"""
    return [max(beam, key=lambda found: scores(*found))[0] for beam in beams]


def output(best, eos_id, max_length):
    """pad with eos to `max_length` and convert to a tensor → the output"""
    return torch.tensor([text + [eos_id] * (max_length - len(text)) for text in best])


STEPS = InSteps(
    start,
    shown,
    logits,
    step_scores,
    finished,
    kept,
    extended,
    rank,
    pruned,
    stop,
    n_rounds,
    beams,
    lengths,
    penalties,
    scores,
    best,
    output,
    reference=beam_search,
)
