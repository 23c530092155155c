"""The practice bank: exercises that interviews ask for and no lesson requires."""

EXERCISES = (
    "adamw_step",
    "gelu",
    "gae",
)
