"""Build the web edition, a static site with the lessons and documents of the repository.

``python3 course.py site`` builds the site in ``build/site/html``. ``pages`` lists all pages and writes Sphinx's sources
in a tree that mirrors the repository, so that links work on the site and in the repository. ``lessons`` prepares a
stored notebook for reading and collapses answers, without executing any cells. ``reference`` writes a page for each
package of the library and for the parts of the course that users import. ``exercise_list`` lists all exercises,
``teaching_plan`` generates the tables in an instructor's plan, and ``slides`` creates a slide deck for each lesson.
``front_page`` writes the front page, ``inside`` writes the page that shows a running model, and ``live_views`` makes
views interactive without a kernel. ``previews`` writes the previews of shared links, and ``repository`` finds the URL
of the published project. ``conf`` contains Sphinx's settings. Only ``conf`` and ``__main__`` require the extra
``site``.
"""
