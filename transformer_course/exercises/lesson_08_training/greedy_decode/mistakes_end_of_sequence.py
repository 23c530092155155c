"""What goes wrong at the ends of sentences."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.greedy_decode.answer import STEPS


def never():
    return lambda ended, tokens, target: False


def zero():
    return lambda chosen, ended: chosen.masked_fill(ended, 0)


MISTAKES = [
    Mistake(
        "stops_before_the_end_is_written",
        STEPS.but(
            output=lambda written, eos_id: (
                written[:, 1:-1] if (written[:, 1:] == eos_id).any(1).all() else written[:, 1:]
            )
        ),
        does="when the last sentence ends, its eos is not appended any more",
        says=(
            "When the last sentence ends, its eos is not generated any more: the loop stops first. Eos is a token like "
            "any other, and part of the output."
        ),
        hints=["What comes out for a single sentence that ends after 3 tokens?"],
    ),
    Mistake(
        "looks_at_the_first_sentence_only",
        STEPS.but(stop=lambda: lambda ended, tokens, target: ended[0]),
        STEPS.but(
            tokens=lambda: lambda chosen, ended: chosen,
            stop=lambda eos_id: lambda ended, tokens, target: tokens[0] == eos_id,
        ),
        does="the loop stops when the *first* sentence has ended",
        says="The end of the first sentence decides for all: when it has ended, the others are cut off.",
        hints=["What becomes of a long sentence, if the first one of the batch is short?"],
    ),
    Mistake(
        "looks_at_the_last_sentence_only",
        STEPS.but(stop=lambda: lambda ended, tokens, target: ended[-1]),
        STEPS.but(
            tokens=lambda: lambda chosen, ended: chosen,
            stop=lambda eos_id: lambda ended, tokens, target: tokens[-1] == eos_id,
        ).attempt,
        does="the loop stops when the *last* sentence has ended",
        says="The end of the last sentence of the batch decides for all: when it has ended, the others are cut off.",
        hints=["What becomes of a long sentence, if the last one of the batch is short?"],
    ),
    Mistake(
        "filled_up_with_zero",
        STEPS.but(tokens=zero),
        STEPS.but(tokens=zero, stop=never),
        does="sentences that have ended are filled up with token 0, and not with eos",
        hints=["What should fill up the sentences that have ended?"],
    ),
    Mistake(
        "leaves_the_end_out",
        STEPS.but(output=lambda written, eos_id: written[:, 1:].masked_fill(written[:, 1:] == eos_id, 0)),
        STEPS.but(
            output=lambda written, eos_id, bos_id: written[:, 1:].masked_fill(written[:, 1:] == eos_id, bos_id)
        ).attempt,
        does="eos is taken out of the output",
        says=(
            "The eos is taken out of the output. It is a token like any other, and should stay: it says that the "
            "sentence has ended, and was not cut off."
        ),
        hints=["How would a reader tell a sentence that ended from one that was cut off?"],
    ),
]
