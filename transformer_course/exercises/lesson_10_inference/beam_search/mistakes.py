"""Mistakes in the rounds of a beam search, in the scores and in the result."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.beam_search.answer import STEPS


def one_candidate_each(beam_size, rank):
    """Return the step that extends each text only by its best token as soon as the beam has several texts."""

    def pruned(candidates, n_texts):
        ordered = sorted(candidates, key=lambda found: rank(*found), reverse=True)
        if n_texts == 1:
            return ordered[:beam_size]
        beginnings, best = set(), []
        for text, total in ordered:
            if tuple(text[:-1]) not in beginnings:
                beginnings.add(tuple(text[:-1]))
                best.append((text, total))
        return best

    return pruned


def one_too_many(beam_size, rank):
    """Return the step that keeps one candidate too many."""
    return lambda candidates, n_texts: sorted(candidates, key=lambda found: rank(*found))[::-1][: beam_size + 1]


def up_to_eos(text, eos_id):
    """Return the text up to its first eos."""
    return text[: text.index(eos_id) + 1] if eos_id in text else text


MISTAKES = [
    Mistake(
        "greedy",
        STEPS.but(start=lambda beam_size: [([], 0.0)] * beam_size),
        STEPS.but(beam_size=lambda: 1),
        summary="you keep a single sequence, or copies of it, in the beam",
        message=(
            "Your beam never contains two different sequences, so your result is the same as with greedy decoding. "
            "How many different sequences should the beam contain after the first step?"
        ),
        hints=["Print your beam after the first step. How many different sequences does it hold?"],
    ),
    Mistake(
        "beam_too_wide",
        STEPS.but(pruned=one_too_many),
        summary="you keep more than `beam_size` sequences after a step",
        message=(
            "{summary}, so you may return a sequence that a beam of this size misses. How many candidates should your "
            "slice keep?"
        ),
        hints=["With a beam of 2, how many sequences do you keep after the second step?"],
    ),
    Mistake(
        "each_text_its_own_best",
        STEPS.but(pruned=one_candidate_each),
        summary="you keep only the best continuation of each sequence, so the sequences never compete",
        message=(
            "You keep only one continuation of each sequence in the beam. If a first token has probability 0.9, its "
            "two best continuations may both be better than any other sequence. Which candidates should compete with "
            "each other?"
        ),
        hints=[
            "After the second step, can two sequences in your beam have the same first token? Should they be able to?"
        ],
    ),
    Mistake(
        "probabilities_multiplied",
        STEPS.but(
            start=lambda: [([], 1.0)],
            step_scores=lambda: lambda logits: logits.softmax(dim=-1).tolist(),
            extended=lambda: (
                lambda text, total, next_scores: [
                    ([*text, token], total * step) for token, step in enumerate(next_scores(text))
                ]
            ),
        ),
        summary="you score a sequence by its probability instead of its log-probability",
        message=(
            "You divide a probability by the length penalty. A probability is positive, so the division makes long "
            "sequences *worse* instead of better. Which function of the probability is negative?"
        ),
        hints=["Is −2 / 1.5 larger or smaller than −2? Is 0.1 / 1.5 larger or smaller than 0.1?"],
    ),
    Mistake(
        "finished_texts_lost",
        STEPS.but(kept=lambda: lambda text, total, next_scores: []),
        summary="you drop finished sequences from the beam",
        message=(
            "{summary}, so a short sequence can never win against a longer one. What should happen to a finished "
            "sequence at the next step?"
        ),
        hints=["A sequence ends at step 2. Which candidate should it give at step 3?"],
    ),
    Mistake(
        "pays_for_every_eos",
        STEPS.but(kept=lambda eos_id: lambda text, total, next_scores: [(text, total + next_scores(text)[eos_id])]),
        STEPS.but(
            kept=lambda eos_id: lambda text, total, next_scores: [([*text, eos_id], total + next_scores(text)[eos_id])]
        ),
        summary="you add the log-probability of another eos to a finished sequence at every step",
        message=(
            "{summary}, so the total of the sequence gets smaller at every step. What should happen to the total of a "
            "finished sequence?"
        ),
        hints=["A sequence ends at step 2 with log-probability −1.5. What should its log-probability be at step 5?"],
    ),
    Mistake(
        "stops_at_the_first_end",
        STEPS.but(stop=lambda finished: lambda beam: any(finished(text) for text, _ in beam)),
        summary="you stop the search as soon as one sequence is finished",
        message=(
            "{summary}. An unfinished sequence may still get a better score, because its total is divided by a larger "
            "penalty. After how many steps should the search end?"
        ),
        hints=[
            "Which cases do you fail: the cases in which a short sequence wins or the cases in which a long one wins?"
        ],
    ),
    Mistake(
        "length_without_eos",
        STEPS.but(lengths=lambda finished: lambda text: len(text) - finished(text)),
        summary="you don't count eos in the length of a sequence",
        message=(
            "You don't count eos in the length, so the length of every finished sequence is one token too small. "
            "Which tokens should the length include?"
        ),
        hints=["What length should a sequence have that consists only of eos?"],
    ),
    Mistake(
        "length_with_bos",
        STEPS.but(lengths=lambda: lambda text: len(text) + 1),
        summary="your length is one token too large, as if it counted bos",
        message=(
            "{summary}. The model doesn't predict bos, so bos is not part of the length. Which tokens does your list "
            "contain?"
        ),
        hints=["What length should a sequence have that consists only of eos?"],
    ),
    Mistake(
        "keeps_the_bos",
        STEPS.but(
            output=lambda best, bos_id, eos_id, max_length: torch.tensor(
                [[bos_id, *text] + [eos_id] * (max_length - len(text)) for text in best]
            )
        ),
        summary="you leave bos in the output",
        message="{summary}, so each row has max_length + 1 tokens. With which token should the output begin?",
        hints=["With `max_length=1`, how many tokens should you return for each sentence?"],
    ),
    Mistake(
        "filled_with_another_token",
        STEPS.but(
            output=lambda best, max_length: torch.tensor([text + [0] * (max_length - len(text)) for text in best])
        ),
        summary="you pad finished sequences with a token other than eos",
        message=(
            "{summary}, so the padding looks like ordinary words. As in lesson 08, only eos may follow eos. Which "
            "token should you pad with?"
        ),
        hints=["Which token follows the eos of a short sequence in your output?"],
    ),
    Mistake(
        "extends_finished_texts",
        STEPS.but(
            finished=lambda: lambda text: False,
            lengths=lambda eos_id: lambda text: len(up_to_eos(text, eos_id)),
            output=lambda best, eos_id, max_length: torch.tensor(
                [(up_to_eos(text, eos_id) + [eos_id] * max_length)[:max_length] for text in best]
            ),
        ),
        summary="you extend finished sequences as well",
        message=(
            "{summary}, so the tokens after eos lower a sequence's total, although you cut these tokens off later. "
            "What should happen to a finished sequence at the next step?"
        ),
        hints=["A sequence ends at step 2 with log-probability −1.5. What should its log-probability be at step 5?"],
    ),
]
