"""The primer: the training loop."""

EXERCISES = ("train_epoch",)
