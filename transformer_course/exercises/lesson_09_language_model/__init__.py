"""Lesson 09: a language model."""

from transformer_course.exercises.lesson_09_language_model.bits_per_byte.exercise import BITS_PER_BYTE
from transformer_course.exercises.lesson_09_language_model.generate.exercise import GENERATE
from transformer_course.exercises.lesson_09_language_model.gpt.exercise import GPT_EXERCISE
from transformer_course.exercises.lesson_09_language_model.induction_score.exercise import INDUCTION_SCORE
from transformer_course.exercises.lesson_09_language_model.next_token_loss.exercise import NEXT_TOKEN_LOSS
from transformer_course.exercises.lesson_09_language_model.sample_next.exercise import SAMPLE_NEXT

EXERCISES = (GPT_EXERCISE, NEXT_TOKEN_LOSS, BITS_PER_BYTE, SAMPLE_NEXT, GENERATE, INDUCTION_SCORE)
