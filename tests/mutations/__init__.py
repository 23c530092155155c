"""Insert known mistakes into the library, one at a time, and check that a test fails: ``python -m tests.mutations``.

``mistakes`` lists the mistakes: at least one for each row of ``docs/mistakes.md``, and some more.
"""
