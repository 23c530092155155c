"""Read submitted notebooks and the instructor's tables as untrusted input.

In reading order: ``submitted_files`` finds files in folders and ``zip_files`` in zips; each is a ``submitted_file``
with a time from ``submission_times``, for which ``git_clones`` and ``written_time`` help. ``layout`` finds the student
of each file using ``platform_names``, and ``people`` finds the person in the roster for a name; ``name_lists`` finds
several people, and ``groups`` the members of each group. ``notebook_cells`` reads the cells of a notebook, including
``written_answers``, and ``cell_text`` recognizes exercises by the text of a cell. ``submission`` reads one notebook
within a ``reading_budget``, and ``printable_text`` cleans its text; ``submissions`` finds all of them;
``usual_lessons`` finds the lesson of other files. ``moodle_times`` adds submission times from Moodle's grading
worksheet. ``tables`` reads CSV files from any program, changes them, and writes them so that they are safe to open;
``column_titles`` finds their columns in any language; ``roster`` is the table of all students. Uses ``exercises`` and
``checking``.
"""
