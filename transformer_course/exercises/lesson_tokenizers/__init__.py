"""Tokenizers (before lesson 09): byte-level BPE, from counting pairs to decoding."""

EXERCISES = (
    "count_pairs",
    "merge",
    "encode",
    "decode",
    "group_digits",
)
