"""Lesson 14: post-training."""

from transformer_course.exercises.lesson_14_post_training.answer_labels.exercise import ANSWER_LABELS
from transformer_course.exercises.lesson_14_post_training.dpo_loss.exercise import DPO_LOSS
from transformer_course.exercises.lesson_14_post_training.exact_reward.exercise import EXACT_REWARD
from transformer_course.exercises.lesson_14_post_training.group_advantages.exercise import GROUP_ADVANTAGES
from transformer_course.exercises.lesson_14_post_training.grpo_loss.exercise import GRPO_LOSS
from transformer_course.exercises.lesson_14_post_training.pass_at_k.exercise import PASS_AT_K

EXERCISES = (ANSWER_LABELS, DPO_LOSS, EXACT_REWARD, GROUP_ADVANTAGES, GRPO_LOSS, PASS_AT_K)
