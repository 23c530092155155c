"""Lesson 10: fast inference."""

EXERCISES = (
    "attend_with_cache",
    "cache_bytes",
    "repeat_kv",
    "quantize_groups",
    "accept",
    "blockwise_attention",
    "beam_search",
)
