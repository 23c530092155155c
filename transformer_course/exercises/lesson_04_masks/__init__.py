"""Lesson 04: masks."""

EXERCISES = (
    "causal_mask",
    "masked_attention",
    "padding_mask",
    "decoder_mask",
    "leaks_future",
    "document_mask",
    "sliding_window_mask",
)
