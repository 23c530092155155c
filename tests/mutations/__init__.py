"""Insert known mistakes into the library, one at a time, and check that a test fails.

Run ``python -m tests.mutations``. ``mistakes`` defines at least one mistake for each row of ``docs/mistakes.md``, and
some further mistakes.
"""
