"""Lesson 03: multi-head attention."""

from transformer_lab.course.exercises.heads.attention_parameters import ATTENTION_PARAMETERS
from transformer_lab.course.exercises.heads.head_contributions import HEAD_CONTRIBUTIONS
from transformer_lab.course.exercises.heads.merge_heads import MERGE_HEADS
from transformer_lab.course.exercises.heads.multi_head_attention import MULTI_HEAD_ATTENTION
from transformer_lab.course.exercises.heads.split_heads import SPLIT_HEADS

EXERCISES = (SPLIT_HEADS, MERGE_HEADS, MULTI_HEAD_ATTENTION, ATTENTION_PARAMETERS, HEAD_CONTRIBUTIONS)
