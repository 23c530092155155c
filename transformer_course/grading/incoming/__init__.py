"""What comes in: submitted notebooks, and the tables that an instructor keeps, all read as untrusted input.

In reading order: ``submitted_files`` finds files in folders and zips, with the times that ``git_clones`` and
``written_time`` make sense of. ``layout`` finds the student of each file, with the names that ``platform_names`` reads,
and ``people`` finds the person in the roster for a name; ``name_lists`` finds several, and ``groups`` the members of
each group. ``notebook_cells`` reads the cells of a notebook, with the ``written_answers``, and ``cell_text`` recognizes
exercises by the text of a cell. ``submissions`` reads all notebooks within a ``reading_budget``, all of it as
``printable_text``; ``usual_lessons`` finds the lesson of other files. ``moodle_times`` adds the submission times that
Moodle has only in its grading worksheet. ``tables`` reads CSV files from any program, changes them, and writes them so
that they are safe to open; ``column_titles`` finds their columns in any language; ``roster`` is the table of all
students. Uses ``exercises`` and ``checking``.
"""
