"""Tests for the web edition: its contents and, if the extra ``site`` is installed, the built site in a browser."""
