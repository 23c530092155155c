"""What goes wrong in the exercises of lesson 01, and what to say about it: the mistakes, one module per exercise."""
