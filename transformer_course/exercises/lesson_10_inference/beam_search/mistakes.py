"""What goes wrong in the rounds of a beam search, in the scores, and in what is returned."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.beam_search.answer import STEPS


def one_candidate_each(beam_size, rank):
    """Make the step that extends each text by its own best token only, once there are several texts."""

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
    """Make the step that lets one candidate too many go on."""
    return lambda candidates, n_texts: sorted(candidates, key=lambda found: rank(*found))[::-1][: beam_size + 1]


MISTAKES = [
    Mistake(
        "greedy",
        STEPS.but(start=lambda beam_size: [([], 0.0)] * beam_size),
        STEPS.but(beam_size=lambda: 1),
        summary="the texts of the beam do not differ from one another, or there is only one",
        message=(
            "This is greedy decoding. Either a single text goes on from each round, or the beam begins with copies of "
            "the empty text: all have the same best continuation, so they stay copies of one another."
        ),
        hints=["Print the texts of the beam after the first round. How many different ones are there?"],
    ),
    Mistake(
        "beam_too_wide",
        STEPS.but(pruned=one_too_many),
        summary="more than beam_size texts go on from a round",
    ),
    Mistake(
        "each_text_its_own_best",
        STEPS.but(pruned=one_candidate_each),
        summary="each text goes on with its own best token, so that texts never compete",
        message=(
            "Each text in the beam goes on with its own best token. Two continuations of one text may both be better "
            "than any of another: the candidates of all texts should compete."
        ),
        hints=["After the second token, can two texts in the beam have the same first token? They should be able to."],
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
        summary="the score of a text is made of its probability, not of its log-probability",
        message=(
            "The score divides a probability by the length penalty. That makes long texts *worse*, as a probability is "
            "positive; a log-probability is negative."
        ),
        hints=["Is −2 / 1.5 larger or smaller than −2? And 0.1 / 1.5 than 0.1?"],
    ),
    Mistake(
        "finished_texts_lost",
        STEPS.but(kept=lambda: lambda text, total, next_scores: []),
        summary="finished texts drop out of the beam",
        message="Texts that have ended drop out, and only the unfinished ones are left to choose from.",
        hints=["What should be a candidate in a round besides the longer texts?"],
    ),
    Mistake(
        "pays_for_every_eos",
        STEPS.but(kept=lambda eos_id: lambda text, total, next_scores: [(text, total + next_scores(text)[eos_id])]),
        STEPS.but(
            kept=lambda eos_id: lambda text, total, next_scores: [([*text, eos_id], total + next_scores(text)[eos_id])]
        ),
        summary="a finished text pays for a further eos in every round",
        message=(
            "A finished text is filled up with eos, and the log-probability of each is added to its own: it gets "
            "worse from round to round. Once a text is finished, its log-probability stays."
        ),
        hints=["What should become of the log-probability of a finished text in later rounds?"],
    ),
    Mistake(
        "stops_at_the_first_end",
        STEPS.but(stop=lambda finished: lambda beam: any(finished(text) for text, _ in beam)),
        summary="the search stops when the first text is finished",
        message=(
            "The search stops as soon as a text is finished. An unfinished one may still get the better score: a long "
            "text is divided by more."
        ),
        hints=["In which cases is it wrong: where a short text wins, or where a long one does?"],
    ),
    Mistake(
        "length_without_eos",
        STEPS.but(lengths=lambda finished: lambda text: len(text) - finished(text)),
        summary="the eos does not count in the length",
    ),
    Mistake(
        "length_with_bos",
        STEPS.but(lengths=lambda: lambda text: len(text) + 1),
        summary="the length is one too large: it counts bos",
        message=(
            "Nearly: the length of a text is one too large, as if bos belonged to it. Bos was given, not predicted."
        ),
        hints=["How long is a text that consists of eos alone?"],
    ),
    Mistake(
        "keeps_the_bos",
        STEPS.but(
            output=lambda best, bos_id, eos_id, max_length: torch.tensor(
                [[bos_id, *text] + [eos_id] * (max_length - len(text)) for text in best]
            )
        ),
        summary="the bos is left in the output",
        message="A bos is left in the output. It was given, not predicted: the output begins with what comes after it.",
        hints=["With max_length = 1, how many tokens should come out?"],
    ),
    Mistake(
        "filled_with_another_token",
        STEPS.but(
            output=lambda best, max_length: torch.tensor([text + [0] * (max_length - len(text)) for text in best])
        ),
        summary="what has ended is filled up with another token than eos",
        message="{summary}. After eos only eos comes, as in lesson 08.",
        hints=["What stands after the eos of a short text?"],
    ),
]
