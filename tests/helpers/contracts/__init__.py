"""What functions and modules must do, as assertions about whatever is handed to them.

Tests make them about the library; ``tests/known_mistakes`` makes them about wrong versions, which must break them.
"""
