"""Lesson 10: fast inference."""

EXERCISES = (
    "attend_with_cache",
    "cache_bytes",
    "repeat_kv",
    "accept",
    "beam_search",
    "blockwise_attention",
)
