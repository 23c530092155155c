"""From tokens back to text."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_tokenizers.decode.answer import STEPS, decode
from transformer_course.exercises.lesson_tokenizers.decode.mistakes import MISTAKES
from transformer_course.exercises.lesson_tokenizers.encode.answer import encode
from transformer_course.exercises.lesson_tokenizers.encode.exercise import TH, THE, WORDS, learned
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


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


DECODE = Exercise(
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
