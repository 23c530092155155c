"""What goes wrong in the exercises of lesson 00, and what to say about it: a module or two per exercise."""
