"""Locate the expression at fault in a wrong attempt.

In reading order: ``fault`` is the result, ``value_layouts`` compares values in the layouts that an attempt may use, and
``substituted_runs`` runs the attempt with correct values instead of some expressions. ``step_search`` finds the
expression whose replacement repairs the output, among the expressions that ``candidate_expressions`` allows.
``code_repairs`` finds the edit to the learner's code that repairs the output, and ``repair_wording`` describes this
edit. ``side_effect_source`` finds the expression that introduces a wrong dtype or changes an argument, and
``discarded_results`` finds unused results. ``fault_search`` tries all of these, and ``fault_wording`` describes the
fault. ``fault_location`` adds the description to a verdict, and ``mistake_location`` adds the line of a recognized
mistake. Uses ``checking``.
"""
