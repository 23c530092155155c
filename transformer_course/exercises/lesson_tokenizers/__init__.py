"""Tokenizers, before lesson 09: byte-level BPE, from counting pairs to text again."""

from transformer_course.exercises.lesson_tokenizers.count_pairs.exercise import COUNT_PAIRS
from transformer_course.exercises.lesson_tokenizers.decode.exercise import DECODE
from transformer_course.exercises.lesson_tokenizers.encode.exercise import ENCODE
from transformer_course.exercises.lesson_tokenizers.group_digits.exercise import GROUP_DIGITS
from transformer_course.exercises.lesson_tokenizers.merge.exercise import MERGE

EXERCISES = (COUNT_PAIRS, MERGE, ENCODE, DECODE, GROUP_DIGITS)
