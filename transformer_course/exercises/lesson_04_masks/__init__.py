"""Lesson 04: masks."""

EXERCISES = (
    "causal_mask",
    "masked_attention",
    "padding_mask",
    "decoder_mask",
    "document_mask",
    "leaks_future",
    "sliding_window_mask",
)
