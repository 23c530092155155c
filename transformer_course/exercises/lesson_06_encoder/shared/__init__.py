"""Code shared by several exercises."""
