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
        summary="you keep a single text, or copies of it, in the beam",
        message=(
            "Your beam search gives the same result as greedy decoding, because your beam never holds two different "
            "texts. With how many texts should it start, and how many should it keep after a round?"
        ),
        hints=["Print your beam after the first round. How many different texts does it hold?"],
    ),
    Mistake(
        "beam_too_wide",
        STEPS.but(pruned=one_too_many),
        summary="you keep more than `beam_size` texts after a round",
        message="{summary}, so you may return a text that a beam of this width misses.",
        hints=["With a beam of 2, how many texts do you keep after the second round?"],
    ),
    Mistake(
        "each_text_its_own_best",
        STEPS.but(pruned=one_candidate_each),
        summary="you keep only the best continuation of each text, so the texts never compete",
        message=(
            "You keep only one continuation of each text in the beam. Two continuations of the same text may both be "
            "better than any continuation of another text, so the candidates of all texts should compete."
        ),
        hints=["After the second token, can two texts in your beam have the same first token? Should they?"],
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
        summary="you score a text by its probability instead of its log-probability",
        message=(
            "You divide a probability by the length penalty. A probability is positive, so that makes long texts "
            "*worse*. Dividing a log-probability, which is negative, makes long texts better."
        ),
        hints=["Is −2 / 1.5 larger or smaller than −2? Is 0.1 / 1.5 larger or smaller than 0.1?"],
    ),
    Mistake(
        "finished_texts_lost",
        STEPS.but(kept=lambda: lambda text, total, next_scores: []),
        summary="you drop finished texts from the beam",
        message="{summary}, so a short text can never win against a longer one.",
        hints=["A text ends in round 2. Which candidate should it be in round 3?"],
    ),
    Mistake(
        "pays_for_every_eos",
        STEPS.but(kept=lambda eos_id: lambda text, total, next_scores: [(text, total + next_scores(text)[eos_id])]),
        STEPS.but(
            kept=lambda eos_id: lambda text, total, next_scores: [([*text, eos_id], total + next_scores(text)[eos_id])]
        ),
        summary="you add the log-probability of another eos to a finished text in every round",
        message="{summary}, so it gets worse from round to round. A finished text should keep its log-probability.",
        hints=["A text ends in round 2 with log-probability −1.5. What should its log-probability be in round 5?"],
    ),
    Mistake(
        "stops_at_the_first_end",
        STEPS.but(stop=lambda finished: lambda beam: any(finished(text) for text, _ in beam)),
        summary="you stop the search when the first text is finished",
        message=(
            "{summary}. An unfinished text may still get a better score, because its total is divided by a larger "
            "penalty."
        ),
        hints=["Which cases do you fail, those in which a short text wins or those in which a long one wins?"],
    ),
    Mistake(
        "length_without_eos",
        STEPS.but(lengths=lambda finished: lambda text: len(text) - finished(text)),
        summary="you don't count eos in the length of a text",
        message="{summary}, so finished texts count as one token too short.",
        hints=["How long is a text that consists of eos alone?"],
    ),
    Mistake(
        "length_with_bos",
        STEPS.but(lengths=lambda: lambda text: len(text) + 1),
        summary="your length of a text is one too large, as if it counted bos",
        message="{summary}. The model doesn't predict bos, so it is not part of the length.",
        hints=["How long is a text that consists of eos alone?"],
    ),
    Mistake(
        "keeps_the_bos",
        STEPS.but(
            output=lambda best, bos_id, eos_id, max_length: torch.tensor(
                [[bos_id, *text] + [eos_id] * (max_length - len(text)) for text in best]
            )
        ),
        summary="you leave bos in the output",
        message="{summary}, so each row has max_length + 1 tokens. The output should begin with the first token that "
        "the model predicts.",
        hints=["With `max_length=1`, how many tokens should you return for each sentence?"],
    ),
    Mistake(
        "filled_with_another_token",
        STEPS.but(
            output=lambda best, max_length: torch.tensor([text + [0] * (max_length - len(text)) for text in best])
        ),
        summary="you pad finished texts with a token other than eos",
        message="{summary}. As in lesson 08, only eos may follow an eos.",
        hints=["Which token follows the eos of a short text in your output?"],
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
        summary="you extend finished texts as well",
        message=(
            "{summary}, so a text pays for tokens after its eos, although you cut them off later. What should happen "
            "to a finished text in the next round?"
        ),
        hints=["A text ends in round 2 with log-probability −1.5. What should its log-probability be in round 5?"],
    ),
]
