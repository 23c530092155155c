"""What goes wrong in the exercises of lesson 08."""
