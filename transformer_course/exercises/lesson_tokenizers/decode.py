"""From tokens back to text."""

import re

import torch

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_tokenizers.encode import TH, THE, WORDS, encode, learned
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def decode(tokens: list[int], merges: list[tuple[int, int]]) -> str:
    """Return the text of tokens; bytes that are no whole character become �."""
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    return b"".join(pieces[token] for token in tokens).decode("utf-8", errors="replace")


def single():
    """make a piece of each byte → the pieces of the first 256 tokens: one byte each"""
    return [bytes([byte]) for byte in range(256)]


def joined():
    """join the pieces of a pair → the piece of a merged token: that of its first token and that of its second"""
    return lambda pieces, first, second: pieces[first] + pieces[second]


def pieces(single, merges, joined):
    """make the piece of each merge from the pieces of its pair → the pieces of all tokens, as bytes"""
    found = list(single)
    for first, second in merges:
        found.append(joined(found, first, second))
    return found


def octets(tokens, pieces):
    """put the pieces of all tokens next to each other → the bytes of the text"""
    return b"".join(pieces[token] for token in tokens)


def errors():
    """decide about bytes that are no character → what happens to invalid bytes: `"replace"`, � stands for them"""
    return "replace"


def text(octets, errors):
    """read the bytes as UTF-8 → the text"""
    return octets.decode("utf-8", errors=errors)


STEPS = InSteps(single, joined, pieces, octets, errors, text, reference=decode)


def decode_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(tokens, merges, shows):
        return Case({"tokens": tokens, "merges": merges}, shows)

    text = " ".join(WORDS[i] for i in torch.randint(len(WORDS), (80,), generator=rng))
    merges = learned(text, 30)
    tokens = encode(text, merges)
    return [
        case([116, 104, 101], [TH], "bytes alone"),
        case([256, 101], [TH], "a merged token"),
        case([257, 32, 104, 97, 116], [TH, THE], "a token that is merged of a merged one"),
        case([116, 195, 170, 116], [], "a letter of two bytes"),
        case([116, 195], [], "half a letter at the end"),
        case([170, 116, 32, 195, 32, 169], [TH], "halves of letters, alone"),
        case([116, 255, 254, 116], [], "two bytes in a row that are no letter"),
        case([116, 257, 116, 256, 195], [(195, 170), (116, 195)], "a merge across the bytes of a letter"),
        case(tokens, merges, "a text in several scripts"),
        case(tokens[7:60], merges, "the middle of it, which may begin within a letter"),
    ]


MISTAKES = [
    Mistake(
        "piece_by_piece",
        STEPS.but(text=lambda tokens, pieces: "".join(pieces[t].decode("utf-8", "replace") for t in tokens)),
        summary="every token is read as UTF-8 by itself",
        message="{summary}. A letter may have its bytes in two tokens: join all bytes first.",
        hints=["What is the text of the first byte of `é`, without the second?"],
    ),
    Mistake(
        "strict",
        STEPS.but(errors=lambda: "strict"),
        summary="bytes that are no character raise an error",
        message="{summary}. A model may generate any tokens; the text should have a � there.",
        hints=["Which values can `errors` have in `bytes.decode`?"],
    ),
    Mistake(
        "latin_1",
        STEPS.but(text=lambda octets: octets.decode("latin-1")),
        summary="every byte is read as a character of its own",
        message="Right for English. Elsewhere {summary}: `é` becomes `Ã©`.",
        hints=["How many bytes has `é` in UTF-8, and how many characters come out?"],
    ),
    Mistake(
        "second_before_first",
        STEPS.but(joined=lambda: lambda pieces, first, second: pieces[second] + pieces[first]),
        summary="the second half of a merged token comes before the first",
    ),
    Mistake(
        "one_replacement_for_several",
        STEPS.but(text=lambda text: re.sub("�+", "�", text)),
        summary="several � in a row become one",
        message=(
            "{summary}. Each byte that never stands in UTF-8 gets a � of its own, as `bytes.decode` does by itself."
        ),
        hints=["How many � should the text of `[255, 255]` have?"],
    ),
    Mistake(
        "no_replacement",
        STEPS.but(errors=lambda: "ignore"),
        STEPS.but(errors=lambda: "backslashreplace"),
        summary="bytes that are no character do not become �",
        message="{summary}. One should see in the text where a model wrote half a letter.",
        hints=["Which values can `errors` have in `bytes.decode`?"],
    ),
]


EXERCISE = Exercise(
    reference=decode,
    steps=STEPS,
    cases=decode_cases,
    points=2,
    verified="Any sequence of tokens has a text, also one that no text is encoded as.",
    hints=[
        "Make a list of pieces: for each token, its bytes. That of token 116 is `bytes([116])`.",
        "The piece of a merge is that of its first token and that of its second, in this order. Both are in the list "
        "already, if the merges are taken in their order.",
        'Join the pieces of all tokens, and only then read them: `b"".join(…).decode("utf-8", errors="replace")`.',
    ],
    mistakes=MISTAKES,
)
