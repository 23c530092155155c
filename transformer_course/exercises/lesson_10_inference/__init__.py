"""Lesson 10: fast inference."""

from transformer_course.exercises.lesson_10_inference.accept.exercise import ACCEPT
from transformer_course.exercises.lesson_10_inference.attend_with_cache.exercise import ATTEND_WITH_CACHE
from transformer_course.exercises.lesson_10_inference.beam_search.exercise import BEAM_SEARCH
from transformer_course.exercises.lesson_10_inference.blockwise_attention.exercise import BLOCKWISE_ATTENTION
from transformer_course.exercises.lesson_10_inference.cache_bytes.exercise import CACHE_BYTES
from transformer_course.exercises.lesson_10_inference.repeat_kv.exercise import REPEAT_KV

EXERCISES = (ATTEND_WITH_CACHE, CACHE_BYTES, REPEAT_KV, ACCEPT, BEAM_SEARCH, BLOCKWISE_ATTENTION)
