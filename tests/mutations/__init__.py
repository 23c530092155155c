"""Put known mistakes into the library, one at a time, and see which test notices: ``python -m tests.mutations``.

``mistakes`` lists them: those of ``docs/mistakes.md``, each of its rows at least once, and a few more.
"""
