"""Read submitted notebooks and the instructor's tables as untrusted input.

In reading order: ``submitted_files`` finds files in folders, and ``zip_files`` finds files in zips. A
``submitted_file`` gets its time from ``submission_times``, which uses ``git_clones`` and ``written_time``. ``layout``
uses ``platform_names`` to find the student who submitted each file. ``people`` matches a name with a person in the
roster, ``name_lists`` matches lists of names, and ``groups`` reads the members of each group. ``notebook_cells`` reads
a notebook's cells, including ``written_answers``, and ``cell_text`` recognizes exercises by a cell's text.
``submission`` reads one notebook within a ``reading_budget``, ``printable_text`` cleans its text, and ``submissions``
finds all notebooks. ``usual_lessons`` guesses the lesson of other files. ``moodle_times`` adds submission times from
Moodle's grading worksheet. ``tables`` reads CSV files from any program, changes them, and writes them so that they are
safe to open. ``column_titles`` finds columns in any language, and ``roster`` reads the table of all students. Uses
``exercises`` and ``checking``.
"""
