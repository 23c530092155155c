"""Training: the loss, the schedules, the optimiser, checkpoints that survive anything, and the loop around them."""
