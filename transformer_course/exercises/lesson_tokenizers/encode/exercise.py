"""From text to tokens, by the merges that were learned."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_tokenizers.count_pairs.answer import count_pairs
from transformer_course.exercises.lesson_tokenizers.encode.answer import STEPS, encode
from transformer_course.exercises.lesson_tokenizers.encode.mistakes import MISTAKES
from transformer_course.exercises.lesson_tokenizers.merge.answer import merge
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case

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


ENCODE = Exercise(
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
