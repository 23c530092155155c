"""What goes wrong in the exercises of lesson 07, and what to say about it."""
