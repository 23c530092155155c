"""Write the gradebook, pages for students and the instructor, and tables for other systems.

In reading order: ``student_results`` defines the results of exercises, lessons and students; ``counted_attempts``
decides which lessons and attempts count; ``class_results`` applies the instructor's rules to a whole class.
``gradebook`` writes the results as a table, and ``point_changes`` compares them with the previous results. ``feedback``
(with ``marked_code``), ``written_page`` and ``class_page`` render pages from the folder ``templates``. ``exports``,
``moodle_worksheet`` and ``feedback_zips`` write files for other systems, and ``assignment_doubts`` detects a table for
a different lesson. ``class_report`` writes all files in the results folder, and ``third_person`` turns a message to one
student into a clause about several students. ``handout`` writes a notebook with the instructor's own exercises. Uses
``judging``.
"""
