"""Evaluation, after lesson 14: scores of a benchmark, their error bars, and questions that leaked into training."""

EXERCISES = (
    "option_scores",
    "paired_error_bar",
    "ngram_overlap",
)
