"""Encode text into tokens with learned merges."""

import itertools

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
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
    """start numbering the merges at 256 → the ID of the first merge: 256, after the IDs of the bytes"""
    return 256


def in_order(merges):
    """apply the merges in the order in which they were learned → the merges in order"""
    return list(merges)


def made(first_id, merges):
    """number the merges → the ID of each merge: first_id plus its index"""
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


def encoded(name, errors):
    return lambda text: list(text.encode(name, errors))


def pairs_of(tokens):
    return list(itertools.pairwise(tokens))


def possible(tokens, ranks):
    """List the adjacent pairs that can be merged, in text order."""
    return [pair for pair in pairs_of(tokens) if pair in ranks]


def merging(choose):
    """Return the step that merges pairs chosen by ``choose`` until no pair is left to merge."""

    def tokens(octets, in_order, made):
        ranks, result = {tuple(pair): rank for rank, pair in enumerate(in_order)}, octets
        while possible(result, ranks):
            pair = choose(result, ranks)
            result = merge(result, pair, made[pair])
        return result

    return tokens


def leftmost_first(octets, in_order, made):
    result, i = list(octets), 0
    while i < len(result) - 1:
        if (result[i], result[i + 1]) in made:
            result[i : i + 2] = [made[result[i], result[i + 1]]]
            i = max(i - 1, 0)  # a new pair can start no earlier than i − 1
        else:
            i += 1
    return result


def each_merge_once(octets, in_order, made):
    result = list(octets)
    for pair in map(tuple, in_order):
        if pair in (pairs := pairs_of(result)):
            i = pairs.index(pair)
            result[i : i + 2] = [made[pair]]
    return result


def until_a_pair_is_missing(octets, in_order, made):
    result = octets
    for pair in map(tuple, in_order):
        if pair not in pairs_of(result):
            break
        result = merge(result, pair, made[pair])
    return result


MISTAKES = [
    Mistake(
        "characters",
        STEPS.but(octets=lambda text: [ord(character) for character in text]),
        summary="you start from the code points of the characters instead of the bytes",
        message=(
            "Your output is right for ASCII, but {summary}: 日 becomes 26085, although the IDs from 256 on are merged "
            "tokens. Which bytes does 日 have in UTF-8?"
        ),
        hints=["What is `ord('é')`, and what is `list('é'.encode('utf-8'))`?"],
    ),
    Mistake(
        "last_merge_first",
        STEPS.but(in_order=lambda merges: list(merges)[::-1]),
        summary="you apply the merges from the last to the first",
        message=(
            "{summary}. If merge 256 is (116, 104) and merge 257 is (256, 101), there is no token 256 yet when you "
            "look for the pair (256, 101). Which merge should come first?"
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
        message=(
            "{summary}: with the merges (116, 104) and (256, 101), 'the' becomes 256, 101 instead of 257. Is there a "
            "`return` or `break` inside your loop?"
        ),
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
        hints=["In which variable do you store the result of the first merge? Do you pass it to the second call?"],
    ),
    Mistake(
        "most_frequent_first",
        STEPS.but(tokens=merging(lambda tokens, ranks: max(possible(tokens, ranks), key=pairs_of(tokens).count))),
        STEPS.but(
            tokens=merging(lambda tokens, ranks: max(sorted(possible(tokens, ranks)), key=pairs_of(tokens).count))
        ).attempt,
        STEPS.but(
            tokens=merging(
                lambda tokens, ranks: max(
                    [pair for pair in ranks if pair in pairs_of(tokens)], key=pairs_of(tokens).count
                )
            )
        ).attempt,
        summary="you apply the merge of the most frequent pair first",
        message=(
            "{summary}, which is how merges are *learned*. When you encode a text, it doesn't matter how often a pair "
            "occurs. In which order should you apply the merges?"
        ),
        hints=[
            "In 'abc bc bc' with the merges (97, 98) and (98, 99), which pair comes first by frequency, and which by "
            "order?"
        ],
    ),
    Mistake(
        "last_learned_first",
        STEPS.but(tokens=merging(lambda tokens, ranks: max(possible(tokens, ranks), key=ranks.__getitem__))),
        summary="you always apply the possible merge that was learned last",
        message=(
            "{summary}: with the merges (97, 98) and (98, 99), 'abc' becomes 97, 257 instead of 256, 99. Which of two "
            "possible merges should come first?"
        ),
        hints=[
            "Later merges were learned on the result of earlier merges. Which merge was learned first, (97, 98) or "
            "(98, 99)?"
        ],
    ),
    Mistake(
        "leftmost_first",
        STEPS.but(tokens=leftmost_first),
        summary="you apply the leftmost possible merge first",
        message=(
            "{summary}: with the merges (98, 99) and (97, 98), 'abc' becomes 257, 99 instead of 97, 256. Should the "
            "order of the text or the order of the list decide?"
        ),
        hints=["Which of the merges (98, 99) and (97, 98) comes first in the list, and where in 'abc' is its pair?"],
    ),
    Mistake(
        "each_merge_once",
        STEPS.but(tokens=each_merge_once),
        summary="you apply each merge only to the first occurrence of its pair",
        message=(
            "{summary}: with the merge (97, 98), 'abab' becomes 256, 97, 98 instead of 256, 256. Where should the "
            "search continue after a match?"
        ),
        hints=["What ends your inner loop after the first merge? What if the pair occurs again later in the text?"],
    ),
    Mistake(
        "stops_at_a_missing_pair",
        STEPS.but(tokens=until_a_pair_is_missing),
        summary="you stop at the first merge whose pair isn't in the text",
        message=(
            "{summary}: with the merges (97, 98) and (99, 100), you don't merge 'cd'. Does your loop need that `break`?"
        ),
        hints=["If the first merge doesn't apply to a text, can a later merge still apply?"],
    ),
    Mistake(
        "last_merge_left_out",
        STEPS.but(in_order=lambda merges: list(merges)[:-1]),
        summary="you never apply the last merge",
        message="{summary}, so a text to which only that merge applies is not merged at all. Where does your loop end?",
        hints=["With a single merge, how many times does your loop run?"],
    ),
    Mistake(
        "another_encoding",
        *[STEPS.but(octets=encoded(name, errors)) for name in ("latin-1", "ascii") for errors in ("replace", "ignore")],
        summary="you encode the text with an encoding other than UTF-8",
        message=(
            "{summary}, so you drop or replace characters that this encoding doesn't have. Which bytes encode é in "
            "UTF-8?"
        ),
        hints=["What is `list('é 日'.encode('utf-8'))`, and what does your code start from?"],
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
        "The first merge makes token 256, the next 257: `enumerate(merges, start=256)` numbers the merges that way.",
    ],
    messages={
        "part_left_out_made: first_id": Wording(
            "{summary}, so you can't tell the merged tokens apart. Which ID should the second merge get?",
            summary="you give all merges the same ID",
            hints=["Which tokens should `the hat` become with the merges (116, 104) and (256, 101)?"],
        ),
        "part_left_out_made: i": Wording(
            "{summary}, but the IDs from 0 to 255 are the bytes. Which is the first free ID?",
            summary="you number the merges from 0",
            hints=["How many different bytes are there, and which IDs do they have?"],
        ),
    },
    mistakes=MISTAKES,
)
