"""The answer to ``encode``, plainly and in steps."""

from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


def encode(text: str, merges: list[tuple[int, int]]) -> list[int]:
    """Return the tokens of a text: its bytes, after all merges in the order in which they were learned."""
    tokens = list(text.encode("utf-8"))
    for new_id, pair in enumerate(merges, start=256):
        tokens = parts.merge(tokens, pair, new_id)
    return tokens


def octets(text):
    """take the bytes of the text

    the bytes of the text, as numbers from 0 to 255
    """
    return list(text.encode("utf-8"))


def first_id():
    """number the merges from 256 on, after the bytes

    the token that the first merge makes: 256
    """
    return 256


def in_order(merges):
    """make the merges in the order in which they were learned

    the merges in their order
    """
    return list(merges)


def made(first_id, merges):
    """find the token that a merge makes

    the token of each merge: first_id and its place among the merges
    """
    return {tuple(pair): first_id + i for i, pair in enumerate(merges)}


def tokens(octets, in_order, made):
    """make one merge after another

    the tokens after all merges
    """
    result = octets
    for pair in in_order:
        result = parts.merge(result, pair, made[tuple(pair)])
    return result


STEPS = InSteps(octets, first_id, in_order, made, tokens, reference=encode)
