"""Practice from memory."""
