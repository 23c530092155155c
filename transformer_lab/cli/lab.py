"""``transformer-lab lab``: open the lessons in JupyterLab."""

import argparse


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "lab",
        help="open the lessons in JupyterLab",
        usage="transformer-lab lab [JUPYTERLAB'S ARGUMENTS ...]",
        description="Open your copy of the lessons in JupyterLab, at the home page that says what you have passed and "
        "where to go on. JupyterLab gets all arguments, such as --no-browser. "
        "The copy is the folder my-lessons, or what the environment variable TRANSFORMER_LAB_LESSONS says.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, passes_arguments_on=True)


def run(args: argparse.Namespace) -> int:
    """Open the lessons, and return the exit code 0 once JupyterLab has ended."""
    from transformer_lab.course.home.lab import open_lab

    open_lab(args.unrecognized)
    return 0
