"""What people write in place of the answers of lesson 04, and what to say about it."""
