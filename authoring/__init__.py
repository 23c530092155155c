"""What builds the collected pages and the map of the code: for authors, not shipped with the course.

``glossary`` and ``interview_questions`` collect from the sections that ``lesson_text`` finds; ``page_to_keep`` puts the
course on one sheet of paper. ``notebooks/build.py`` and ``docs/site`` use them. ``room_map`` draws which room may
import which.
"""
