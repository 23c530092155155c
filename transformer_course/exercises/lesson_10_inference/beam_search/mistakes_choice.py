"""What goes wrong after the last round of a beam search: in the scores, in the choice, and in what is returned."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.beam_search.answer import STEPS
from transformer_course.exercises.lesson_10_inference.beam_search.mistakes_rounds import in_a_batch, to_the_longest


def filled_with(token):
    """Make the step that fills the texts up with another token."""
    return lambda best, max_length: torch.tensor([text + [token] * (max_length - len(text)) for text in best])


def safely_divided(total, by):
    """Divide as torch does: by 0, too."""
    return float(torch.tensor(total) / by)


MISTAKES = [
    Mistake(
        "no_length_penalty",
        STEPS.but(scores=lambda: lambda text, total: total),
        STEPS.but(lengths=lambda max_length: lambda text: max_length),
        STEPS.but(kept=lambda eos_id: lambda text, total, next_scores: [([*text, eos_id], total)]),
        STEPS.but(stop=lambda finished: lambda beam: finished(beam[0][0])),
        in_a_batch(stops="first"),
        does="the length of a text makes no difference to which one wins",
        says=(
            "The likeliest text wins, whatever its length. Either the log-probabilities alone decide, or all texts "
            "count as equally long, or the search stops as soon as the likeliest text has ended."
        ),
        hints=[
            "Does the result change with `length_penalty`? And is the length that of the text, or "
            "that of the padded row?"
        ],
    ),
    Mistake(
        "multiplied_by_the_penalty",
        STEPS.but(scores=lambda lengths, penalties: lambda text, total: total * penalties(lengths(text))),
        does="the log-probability is multiplied by the length penalty",
        says="{does}. It is negative, so that makes long texts worse, and they should become better.",
        hints=["Which is larger, −2 · 1.5 or −2 / 1.5?"],
    ),
    Mistake(
        "length_without_eos",
        STEPS.but(lengths=lambda finished: lambda text: len(text) - finished(text)),
        STEPS.but(lengths=lambda: lambda text: len(text) - 1).attempt,
        does="the eos does not count in the length",
    ),
    Mistake(
        "length_with_bos",
        STEPS.but(lengths=lambda: lambda text: len(text) + 1),
        does="the length is one too large: it counts bos",
        says="Nearly: the length of a text is one too large, as if bos belonged to it. Bos was given, not predicted.",
        hints=["How long is a text that consists of eos alone?"],
    ),
    Mistake(
        "divided_by_the_length",
        STEPS.but(penalties=lambda length_penalty: lambda length: length**length_penalty),
        STEPS.but(penalties=lambda: lambda length: length),
        does="the penalty is made of the length itself, not of (5 + length) / 6",
    ),
    Mistake(
        "exponent_left_out",
        STEPS.but(penalties=lambda: lambda length: (5 + length) / 6),
        STEPS.but(
            penalties=lambda length_penalty: lambda length: (5 + length) / 6 * length_penalty,
            scores=lambda lengths, penalties: lambda text, total: safely_divided(total, penalties(lengths(text))),
        ),
        STEPS.but(penalties=lambda length_penalty: lambda length: (5 + length) / 6 * length_penalty).attempt,
        does="`length_penalty` is not the exponent",
    ),
    Mistake(
        "power_without_brackets",
        STEPS.but(penalties=lambda length_penalty: lambda length: (5 + length / 6) ** length_penalty),
        STEPS.but(penalties=lambda length_penalty: lambda length: 5 + length / 6**length_penalty),
        does="the formula of the penalty is grouped otherwise than it is meant",
        says="The parts of the penalty are there, but Python groups them otherwise: brackets are missing.",
        hints=["In which order does Python compute `5 + 4 / 6 ** 2`?"],
    ),
    Mistake(
        "another_text_of_the_beam",
        STEPS.but(best=lambda beams, scores: [min(beam, key=lambda found: scores(*found))[0] for beam in beams]),
        STEPS.but(best=lambda beams: [beam[-1][0] for beam in beams]),
        does="the worst text of the beam is chosen",
        says="The *worst* text of the beam comes out. Look at the last choice.",
        hints=["Is a score of −1 better or worse than one of −2?"],
    ),
    Mistake(
        "all_texts_returned",
        STEPS.but(
            output=lambda beams, eos_id, max_length: torch.tensor(
                [[text + [eos_id] * (max_length - len(text)) for text, _ in beam] for beam in beams]
            )
        ),
        does="all texts of the beam are returned",
        says="All the texts of the beam come out. One is asked for each sentence: that of the best score.",
        hints=["What shape is asked for, and what shape comes out?"],
    ),
    Mistake(
        "keeps_the_bos",
        STEPS.but(
            output=lambda best, bos_id, eos_id, max_length: torch.tensor(
                [[bos_id, *text] + [eos_id] * (max_length - len(text)) for text in best]
            )
        ),
        STEPS.but(
            output=lambda beams, best, bos_id, eos_id: torch.tensor(
                [
                    [bos_id, *text] + [eos_id] * (max(len(text) for beam in beams for text, _ in beam) - len(text))
                    for text in best
                ]
            )
        ),
        STEPS.but(output=lambda best, bos_id, eos_id: to_the_longest([[bos_id, *text] for text in best], eos_id)),
        does="the bos is left in the output",
        says="A bos is left in the output. It was given, not predicted: the output begins with what comes after it.",
        hints=["With max_length = 1, how many tokens should come out?"],
    ),
    Mistake(
        "filled_with_another_token",
        STEPS.but(output=filled_with(0)),
        STEPS.but(output=lambda best: to_the_longest(best, 0)),
        STEPS.but(output=lambda best, bos_id, max_length: filled_with(bos_id)(best, max_length)),
        STEPS.but(
            output=lambda best, eos_id, max_length: filled_with(0)(
                [[token for token in text if token != eos_id] for text in best], max_length
            )
        ).attempt,
        does="what has ended is filled up with another token than eos",
        says="{does}. After eos only eos comes, as in lesson 08.",
        hints=["What stands after the eos of a short text?"],
    ),
    Mistake(
        "lists",
        STEPS.but(output=lambda best: best),
        STEPS.but(output=lambda output: output.tolist()),
        STEPS.but(output=lambda best: [torch.tensor(text) for text in best]).attempt,
        does="lists come out, not a tensor",
        says="A list of texts comes out. A tensor of shape (batch, n) is asked for.",
        hints=["What does `type` say of the result?"],
    ),
    Mistake(
        "scores_as_well",
        STEPS.but(
            output=lambda output, beams, scores: (output, [max(scores(*found) for found in beam) for beam in beams])
        ),
        does="the scores are returned besides the texts",
        says="Two things come back, texts and scores. The texts alone are asked for.",
        hints=["What does the annotation after `->` promise?"],
    ),
]
