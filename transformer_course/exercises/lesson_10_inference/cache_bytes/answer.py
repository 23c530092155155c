"""The answer to ``cache_bytes``, plainly and in steps."""

from transformer_course.steps import InSteps


def cache_bytes(n_layers: int, n_kv_heads: int, d_head: int, length: int, batch: int, bytes_per_number: int) -> int:
    """Return the number of bytes that a KV cache takes when each of `batch` sequences holds `length` tokens."""
    per_token = 2 * n_layers * n_kv_heads * d_head  # a key and a value in every layer
    return per_token * length * batch * bytes_per_number


def width(n_kv_heads, d_head):
    """multiply the number of key-value heads by the width of one

    the numbers in the keys of one token in one layer: n_kv_heads times d_head
    """
    return n_kv_heads * d_head


def kinds():
    """count what is kept of a token: a key and a value

    the number of things that are kept of a token: a key and a value
    """
    return 2


def per_token(kinds, width, n_layers):
    """multiply by that and by the number of layers: the numbers of one token

    the numbers of one token: those of its keys and values in all layers
    """
    return kinds * width * n_layers


def tokens(length, batch):
    """multiply the number of sequences by their length

    the number of tokens in the cache: batch times length
    """
    return batch * length


def numbers(per_token, tokens):
    """multiply the numbers of one token by the tokens

    the numbers in the cache: those of one token, times the tokens
    """
    return per_token * tokens


def total(numbers, bytes_per_number):
    """multiply by the bytes of one number

    the bytes of the cache: its numbers, times the bytes of one
    """
    return numbers * bytes_per_number


STEPS = InSteps(width, kinds, per_token, tokens, numbers, total, reference=cache_bytes)
