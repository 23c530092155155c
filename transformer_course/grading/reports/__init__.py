"""What goes out: the gradebook, pages for students and instructor, and tables for other systems.

In reading order: ``student_results`` holds the results of exercises, lessons and students, ``counted_attempts`` decides
which lessons and attempts count, and ``class_results`` applies the instructor's rules to a whole class. ``gradebook``
writes these results as a table, and ``point_changes`` compares them with the last ones; ``feedback``, with
``marked_code``, ``written_page`` and ``class_page`` are pages from the folder ``templates``; ``exports``,
``moodle_worksheet`` and ``feedback_zips`` are for other systems, and ``assignment_doubts`` notices the table of another
lesson. ``class_report`` writes all that stays in the folder of results, and ``third_person`` turns a message to a
student into a clause about several. ``handout`` makes a notebook of an instructor's own exercises. Uses ``judging``.
"""
