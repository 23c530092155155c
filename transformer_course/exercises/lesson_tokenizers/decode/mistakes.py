"""What goes wrong on the way back to text."""

import re

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_tokenizers.decode.answer import STEPS

MISTAKES = [
    Mistake(
        "piece_by_piece",
        STEPS.but(text=lambda tokens, pieces: "".join(pieces[t].decode("utf-8", "replace") for t in tokens)),
        does="every token is read as UTF-8 by itself",
        says="{does}. A letter may have its bytes in two tokens: join all bytes first.",
        hints=["What is the text of the first byte of `é`, without the second?"],
    ),
    Mistake(
        "strict",
        STEPS.but(errors=lambda: "strict"),
        does="bytes that are no character raise an error",
        says="{does}. A model may generate any tokens; the text should have a � there.",
        hints=["Which values can `errors` have in `bytes.decode`?"],
    ),
    Mistake(
        "latin_1",
        STEPS.but(text=lambda octets: octets.decode("latin-1")),
        does="every byte is read as a character of its own",
        says="Right for English. Elsewhere {does}: `é` becomes `Ã©`.",
        hints=["How many bytes has `é` in UTF-8, and how many characters come out?"],
    ),
    Mistake(
        "second_before_first",
        STEPS.but(joined=lambda: lambda pieces, first, second: pieces[second] + pieces[first]),
        does="the second half of a merged token comes before the first",
    ),
    Mistake(
        "one_replacement_for_several",
        STEPS.but(text=lambda text: re.sub("�+", "�", text)),
        does="several � in a row become one",
        says="{does}. Each byte that never stands in UTF-8 gets a � of its own, as `bytes.decode` does by itself.",
        hints=["How many � should the text of `[255, 255]` have?"],
    ),
    Mistake(
        "no_replacement",
        STEPS.but(errors=lambda: "ignore"),
        STEPS.but(errors=lambda: "backslashreplace"),
        does="bytes that are no character do not become �",
        says="{does}. One should see in the text where a model wrote half a letter.",
        hints=["Which values can `errors` have in `bytes.decode`?"],
    ),
]
