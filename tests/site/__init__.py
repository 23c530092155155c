"""Tests for the web edition. The tests of the built site in a browser run only if the extra ``site`` is installed."""
