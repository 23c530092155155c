"""Lesson 03: multi-head attention."""

from transformer_course.exercises.lesson_03_heads.attention_parameters.exercise import ATTENTION_PARAMETERS
from transformer_course.exercises.lesson_03_heads.head_contributions.exercise import HEAD_CONTRIBUTIONS
from transformer_course.exercises.lesson_03_heads.merge_heads.exercise import MERGE_HEADS
from transformer_course.exercises.lesson_03_heads.multi_head_attention.exercise import MULTI_HEAD_ATTENTION
from transformer_course.exercises.lesson_03_heads.split_heads.exercise import SPLIT_HEADS

EXERCISES = (SPLIT_HEADS, MERGE_HEADS, MULTI_HEAD_ATTENTION, ATTENTION_PARAMETERS, HEAD_CONTRIBUTIONS)
