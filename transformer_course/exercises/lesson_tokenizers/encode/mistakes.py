"""What goes wrong when learned merges are made."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_tokenizers.encode.answer import STEPS

MISTAKES = [
    Mistake(
        "characters",
        STEPS.but(octets=lambda text: [ord(character) for character in text]),
        does="the numbers of the *characters* are taken, not the bytes",
        says="Right for English. With other letters, {does}: they go far beyond 255, where merged tokens begin.",
        hints=["What is `ord('é')`, and what is `list('é'.encode('utf-8'))`?"],
    ),
    Mistake(
        "last_merge_first",
        STEPS.but(in_order=lambda merges: list(merges)[::-1]),
        does="the merges are made from the last to the first",
        says="{does}. Later merges are made of tokens that earlier ones make.",
        hints=["If merge 256 is (116, 104) and merge 257 is (256, 101), which must come first?"],
    ),
    Mistake(
        "first_merge_only",
        STEPS.but(tokens=lambda octets, in_order, made: STEPS.steps["tokens"](octets, in_order[:1], made)),
        STEPS.but(
            tokens=lambda octets, in_order, made: (
                STEPS.steps["tokens"](octets, in_order[:1], made) if in_order else None
            )
        ),
        does="only the first merge is made",
        says="{does}, and none of the others. Does a `return` or `break` stand inside the loop?",
        hints=["How often does the loop go round for three merges?"],
    ),
    Mistake(
        "every_merge_from_the_bytes",
        STEPS.but(tokens=lambda octets, in_order, made: STEPS.steps["tokens"](octets, in_order[-1:], made)),
        does="each merge is made on the bytes anew, so that only the last one is left",
        says="{does}. Each should go on with what the one before has made.",
        hints=["What is handed to `merge` in the second round of the loop?"],
    ),
]
