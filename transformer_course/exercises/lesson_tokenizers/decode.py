"""Decode tokens into text."""

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
    """create a one-byte piece for each byte → the pieces of the first 256 tokens: single bytes → the one-byte pieces"""
    return [bytes([byte]) for byte in range(256)]


def joined():
    """concatenate the pieces of a pair → the piece of a merged token: the first piece, then the second piece"""
    return lambda pieces, first, second: pieces[first] + pieces[second]


def pieces(single, merges, joined):
    """build the piece of each merged token → the pieces of all tokens: as bytes"""
    found = list(single)
    for first, second in merges:
        found.append(joined(found, first, second))
    return found


def octets(tokens, pieces):
    """concatenate the pieces of all tokens → the bytes of the text"""
    return b"".join(pieces[token] for token in tokens)


def errors():
    """choose how to decode invalid bytes → the error handler for invalid bytes: `"replace"`, which decodes them as �"""
    return "replace"


def text(octets, errors):
    """decode the bytes as UTF-8 → the text"""
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
        case([257, 32, 104, 97, 116], [TH, THE], "a token merged from a merged token"),
        case([116, 195, 170, 116], [], "a character of two bytes"),
        case([116, 195], [], "half a character at the end"),
        case([170, 116, 32, 195, 32, 169], [TH], "separate halves of characters"),
        case([116, 255, 254, 116], [], "two invalid bytes in a row"),
        case([116, 257, 116, 256, 195], [(195, 170), (116, 195)], "a merge of one character with half of the next"),
        case(tokens, merges, "a text in several scripts"),
        case(tokens[7:60], merges, "the middle of that text, which may begin inside a character"),
    ]


def decoded_or_replaced(octets):
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError:
        return "�"


MISTAKES = [
    Mistake(
        "piece_by_piece",
        STEPS.but(text=lambda tokens, pieces: "".join(pieces[t].decode("utf-8", "replace") for t in tokens)),
        summary="you decode each token separately",
        message=(
            "{summary}. A character's bytes may be split across tokens: [195, 170] is ê, but you return ��. When "
            "should you decode?"
        ),
        hints=[
            'What is `bytes([195]).decode("utf-8", "replace")`? And `bytes([195, 170]).decode("utf-8", "replace")`?'
        ],
    ),
    Mistake(
        "strict",
        STEPS.but(errors=lambda: "strict"),
        summary="you let invalid bytes raise an error",
        message=(
            "{summary}. A model can generate any tokens, such as the first byte of é alone. Which argument of "
            "`bytes.decode` inserts a � instead?"
        ),
        hints=["What is `bytes([195]).decode(errors='replace')`?"],
    ),
    Mistake(
        "latin_1",
        STEPS.but(text=lambda octets: octets.decode("latin-1")),
        summary="you decode each byte as a separate character",
        message=("Your output is right for ASCII, but {summary}: é becomes Ã©. Which encoding combines its two bytes?"),
        hints=["How many bytes does é have in UTF-8, and how many characters do you return for it?"],
    ),
    Mistake(
        "second_before_first",
        STEPS.but(joined=lambda: lambda pieces, first, second: pieces[second] + pieces[first]),
        summary="you put the second half of a merged token before the first",
        message="{summary}: the token merged from t and h becomes ht. Which piece comes first?",
        hints=["Which text should the tokens of t, h and their merge give?"],
    ),
    Mistake(
        "one_replacement_for_several",
        STEPS.but(text=lambda text: re.sub("�+", "�", text)),
        summary="you replace several � in a row with a single �",
        message=("{summary}. In [255, 255], each byte is invalid. How many � does `bytes.decode` return?"),
        hints=['What is `bytes([255, 255]).decode("utf-8", errors="replace")`?'],
    ),
    Mistake(
        "no_replacement",
        STEPS.but(errors=lambda: "ignore"),
        STEPS.but(errors=lambda: "backslashreplace"),
        summary="you don't decode invalid bytes as �",
        message=(
            "{summary}, so a reader can't see where the model generated half a character. Which value of `errors` "
            "inserts a �?"
        ),
        hints=["Which values can the `errors` argument of `bytes.decode` have?"],
    ),
    Mistake(
        "all_or_nothing",
        STEPS.but(text=lambda octets: decoded_or_replaced(octets)),
        summary="you replace the whole text with � if any byte is invalid",
        message=(
            "{summary}: for the bytes of t and half a character, you return � instead of t�. Which value of `errors` "
            "replaces only the invalid bytes?"
        ),
        hints=['What is `bytes([116, 195]).decode("utf-8", errors="replace")`?'],
    ),
    Mistake(
        "last_token_lost",
        STEPS.but(tokens=lambda tokens: tokens[:-1]),
        summary="you leave out the last token",
        message="{summary}: the tokens of `the` become `th`. Where does your loop end?",
        hints=["For 3 tokens, which values does the variable of your loop have?"],
    ),
]


EXERCISE = Exercise(
    reference=decode,
    steps=STEPS,
    cases=decode_cases,
    points=2,
    verified="Any sequence of tokens decodes to a text, even one that `encode` never returns.",
    hints=[
        "Which bytes does token 116 stand for? And token 256, if the first merge is (116, 104)?",
        "Make a list with the bytes of each token: `bytes([116])` for token 116. A merged token has the bytes of its "
        "first token, then those of its second. Both are in the list already if you go through the merges in order.",
        'Join the bytes of all tokens, and only then decode them: `b"".join(…).decode("utf-8", errors="replace")`.',
    ],
    mistakes=MISTAKES,
)
