"""Lesson 11: the modern block."""

from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.exercise import (
    GROUPED_QUERY_ATTENTION,
)
from transformer_course.exercises.lesson_11_modern_block.latent_attention.exercise import LATENT_ATTENTION
from transformer_course.exercises.lesson_11_modern_block.lora_linear.exercise import LORA_LINEAR
from transformer_course.exercises.lesson_11_modern_block.pairs_from_halves.exercise import PAIRS_FROM_HALVES
from transformer_course.exercises.lesson_11_modern_block.rms_norm.exercise import RMS_NORM
from transformer_course.exercises.lesson_11_modern_block.route.exercise import ROUTE
from transformer_course.exercises.lesson_11_modern_block.swiglu.exercise import SWIGLU

EXERCISES = (RMS_NORM, SWIGLU, GROUPED_QUERY_ATTENTION, LATENT_ATTENTION, ROUTE, PAIRS_FROM_HALVES, LORA_LINEAR)
