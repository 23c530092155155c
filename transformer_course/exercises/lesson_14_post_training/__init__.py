"""Lesson 14: post-training."""

EXERCISES = (
    "answer_labels",
    "dpo_loss",
    "exact_reward",
    "group_advantages",
    "grpo_loss",
    "pass_at_k",
)
