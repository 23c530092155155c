"""The answer to ``decode``, plainly and in steps."""

from transformer_course.steps import InSteps


def decode(tokens: list[int], merges: list[tuple[int, int]]) -> str:
    """Return the text of tokens; bytes that are no whole character become �."""
    pieces = [bytes([byte]) for byte in range(256)]
    for first, second in merges:
        pieces.append(pieces[first] + pieces[second])
    return b"".join(pieces[token] for token in tokens).decode("utf-8", errors="replace")


def single():
    """make a piece of each byte

    the pieces of the first 256 tokens: one byte each
    """
    return [bytes([byte]) for byte in range(256)]


def joined():
    """join the pieces of a pair

    the piece of a merged token: that of its first token and that of its second
    """
    return lambda pieces, first, second: pieces[first] + pieces[second]


def pieces(single, merges, joined):
    """make the piece of each merge from the pieces of its pair

    the pieces of all tokens, as bytes
    """
    found = list(single)
    for first, second in merges:
        found.append(joined(found, first, second))
    return found


def octets(tokens, pieces):
    """put the pieces of all tokens next to each other

    the bytes of the text
    """
    return b"".join(pieces[token] for token in tokens)


def errors():
    """decide what stands for bytes that are no character

    what happens to bytes that are no character: `"replace"`, � stands for them
    """
    return "replace"


def text(octets, errors):
    """read the bytes as UTF-8

    the text
    """
    return octets.decode("utf-8", errors=errors)


STEPS = InSteps(single, joined, pieces, octets, errors, text, reference=decode)
