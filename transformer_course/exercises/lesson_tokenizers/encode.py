"""Encode text as tokens with learned merges."""

import torch

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_tokenizers.count_pairs import count_pairs
from transformer_course.exercises.lesson_tokenizers.merge import merge
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def encode(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """Return the tokens of a text: its bytes, after all merges in the order in which they were learned."""
    tokens = list(text.encode("utf-8"))
    for new_id, pair in enumerate(merges, start=256):
        tokens = parts.merge(tokens, pair, new_id)
    return tokens


def octets(text):
    """encode the text as UTF-8 → the bytes of the text: numbers from 0 to 255"""
    return list(text.encode("utf-8"))


def first_id():
    """start numbering the merges at 256 → the id of the first merge: 256, after those of the bytes"""
    return 256


def in_order(merges):
    """apply the merges in the order in which they were learned → the merges in order"""
    return list(merges)


def made(first_id, merges):
    """number the merges → the id of each merge: first_id plus its index"""
    return {tuple(pair): first_id + i for i, pair in enumerate(merges)}


def tokens(octets, in_order, made):
    """apply the merges one after the other → the tokens after all merges"""
    result = octets
    for pair in in_order:
        result = parts.merge(result, pair, made[tuple(pair)])
    return result


STEPS = InSteps(octets, first_id, in_order, made, tokens, reference=encode)


TH, THE = (116, 104), (256, 101)
WORDS = ["the", "then", "mars", "März", "tête", "3 мая", "that", "hat", "attention", "é", "2021", "日"]


def learned(text: str, n_merges: int) -> list[tuple[int, int]]:
    """Return the merges that BPE learns from a text."""
    tokens, merges = list(text.encode("utf-8")), list[tuple[int, int]]()
    for new_id in range(256, 256 + n_merges):
        first, second = divmod(int(count_pairs(tokens, new_id).argmax()), new_id)
        merges.append((first, second))
        tokens = merge(tokens, merges[-1], new_id)
    return merges


def encode_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def words(n: int) -> str:
        return " ".join(WORDS[i] for i in torch.randint(len(WORDS), (n,), generator=rng))

    def case(text, merges, shows):
        return Case({"text": text, "merges": merges}, shows)

    return [
        case("the", [TH], "one merge"),
        case("the hat", [TH, THE], "a merge of a merged token"),
        case("abc", [], "no merges at all"),
        case("é 日", [TH], "characters of two and three bytes"),
        case("abc bc bc", [(97, 98), (98, 99)], "two merges with a letter in common"),
        case("", [TH], "an empty text"),
        case("tête-à-tête", [(195, 170), (116, 256), (257, 116)], "a merge of the bytes of one character"),
        case(words(20), learned(words(60), 12), "12 merges, learned from similar words"),
        case(words(300), learned(words(200), 40), "40 merges, and a longer text"),
    ]


MISTAKES = [
    Mistake(
        "characters",
        STEPS.but(octets=lambda text: [ord(character) for character in text]),
        summary="you start from the code points of the characters instead of the bytes",
        message=(
            "Your output is right for plain ASCII, but {summary}: 日 becomes 26085, although the ids from 256 on "
            "stand for merges."
        ),
        hints=["What is `ord('é')`, and what is `list('é'.encode('utf-8'))`?"],
    ),
    Mistake(
        "last_merge_first",
        STEPS.but(in_order=lambda merges: list(merges)[::-1]),
        summary="you apply the merges from the last to the first",
        message=(
            "{summary}. If merge 256 is (116, 104) and merge 257 is (256, 101), there is no token 256 yet when you "
            "look for the pair (256, 101)."
        ),
        hints=["Which merges can contain the token 256: those learned before it or after it?"],
    ),
    Mistake(
        "first_merge_only",
        STEPS.but(tokens=lambda octets, in_order, made: STEPS.steps["tokens"](octets, in_order[:1], made)),
        STEPS.but(
            tokens=lambda octets, in_order, made: (
                STEPS.steps["tokens"](octets, in_order[:1], made) if in_order else None
            )
        ),
        summary="you apply only the first merge",
        message="{summary}, and none of the others. Is there a `return` or `break` inside your loop?",
        hints=["How many times does your loop run for three merges?"],
    ),
    Mistake(
        "every_merge_from_the_bytes",
        STEPS.but(tokens=lambda octets, in_order, made: STEPS.steps["tokens"](octets, in_order[-1:], made)),
        summary="you apply only the last merge to the bytes",
        message=(
            "Only your last merge has an effect, as if you applied every merge to the bytes. What do you pass to "
            "`merge` in the second iteration of your loop?"
        ),
        hints=["After the first merge, where are its tokens? Does the second merge get them?"],
    ),
]


EXERCISE = Exercise(
    reference=encode,
    steps=STEPS,
    cases=encode_cases,
    points=2,
    verified="You start from the bytes and apply one merge after the other, in the order in which they were learned.",
    hints=[
        'Encode "the" with the single merge (116, 104) by hand. Which numbers do you start from, and which are left?',
        'Start from the bytes: `list(text.encode("utf-8"))` is a list of numbers from 0 to 255. Then apply the '
        "merges one after the other with `parts.merge(tokens, pair, new_id)`. In which order?",
        "The first merge makes token 256, the next 257: `enumerate(merges, start=256)` numbers them like that.",
    ],
    mistakes=MISTAKES,
)
