"""Evaluation, after lesson 14: benchmark scores, their error bars, and leaked test questions."""

EXERCISES = (
    "option_scores",
    "paired_error_bar",
    "ngram_overlap",
)
