"""The answer to ``merge``, plainly and in steps."""

from transformer_course.steps import InSteps


def merge(tokens: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    """Return the tokens with new_id in place of each occurrence of the pair, from left to right."""
    merged, i = [], 0
    while i < len(tokens):
        if tokens[i : i + 2] == [*pair]:
            merged.append(new_id)
            i += 2
        else:
            merged.append(tokens[i])
            i += 1
    return merged


def found(tokens, pair):
    """compare the token at i and the next with the pair

    whether the pair stands at i
    """
    return lambda i: tokens[i : i + 2] == [*pair]


def used(found):
    """use up two tokens where the pair stands, and one elsewhere

    how many tokens are used up at i: two where the pair stands, else one
    """
    return lambda i: 2 if found(i) else 1


def starts(tokens, used):
    """go through the text from left to right, past all that is used up

    the positions at which a token of the result begins
    """
    positions, i = [], 0
    while i < len(tokens):
        positions.append(i)
        i += used(i)
    return positions


def written(tokens, found, new_id):
    """write the new token where the pair stands, and the old one elsewhere

    the token that is written for position i
    """
    return lambda i: new_id if found(i) else tokens[i]


def merged(starts, written):
    """write a token for each of these positions

    the tokens after the merge
    """
    return [written(i) for i in starts]


STEPS = InSteps(found, used, starts, written, merged, reference=merge)
