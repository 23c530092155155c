"""What functions and modules must do, as assertions about whatever is passed to them."""
