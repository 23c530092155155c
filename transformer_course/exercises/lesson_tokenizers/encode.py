"""From text to tokens, by the merges that were learned."""

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
    """take the bytes of the text → the bytes of the text, as numbers from 0 to 255"""
    return list(text.encode("utf-8"))


def first_id():
    """number the merges from 256 on, after the bytes → the token that the first merge makes: 256"""
    return 256


def in_order(merges):
    """make the merges in the order in which they were learned → the merges in their order"""
    return list(merges)


def made(first_id, merges):
    """find the token that a merge makes → the token of each merge: first_id and its place among the merges"""
    return {tuple(pair): first_id + i for i, pair in enumerate(merges)}


def tokens(octets, in_order, made):
    """make one merge after another → the tokens after all merges"""
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
        case("é 日", [TH], "letters of two and three bytes"),
        case("abc bc bc", [(97, 98), (98, 99)], "two merges with a letter in common"),
        case("", [TH], "an empty text"),
        case("tête-à-tête", [(195, 170), (116, 256), (257, 116)], "a merge of the bytes of one letter"),
        case(words(20), learned(words(60), 12), "12 merges, learned from such words"),
        case(words(300), learned(words(200), 40), "40 merges, and a longer text"),
    ]


MISTAKES = [
    Mistake(
        "characters",
        STEPS.but(octets=lambda text: [ord(character) for character in text]),
        summary="the numbers of the *characters* are taken, not the bytes",
        message="Right for English. With other letters, {summary}: they go far beyond 255, where merged tokens begin.",
        hints=["What is `ord('é')`, and what is `list('é'.encode('utf-8'))`?"],
    ),
    Mistake(
        "last_merge_first",
        STEPS.but(in_order=lambda merges: list(merges)[::-1]),
        summary="the merges are made from the last to the first",
        message="{summary}. Later merges are made of tokens that earlier ones make.",
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
        summary="only the first merge is made",
        message="{summary}, and none of the others. Does a `return` or `break` stand inside the loop?",
        hints=["How often does the loop go round for three merges?"],
    ),
    Mistake(
        "every_merge_from_the_bytes",
        STEPS.but(tokens=lambda octets, in_order, made: STEPS.steps["tokens"](octets, in_order[-1:], made)),
        summary="each merge is made on the bytes anew, so that only the last one is left",
        message="{summary}. Each should go on with what the one before has made.",
        hints=["What is handed to `merge` in the second round of the loop?"],
    ),
]


EXERCISE = Exercise(
    reference=encode,
    steps=STEPS,
    cases=encode_cases,
    points=2,
    verified="Bytes first, then one merge after another, in the order in which they were learned.",
    hints=[
        'Begin with the bytes: `text.encode("utf-8")`. A list of them is a list of numbers from 0 to 255.',
        "Then make the merges one after another: `parts.merge(tokens, pair, new_id)`. In which order?",
        "The first merge makes the token 256, the next 257: `enumerate(merges, start=256)` numbers them so.",
    ],
    mistakes=MISTAKES,
)
