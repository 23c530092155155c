"""The web edition: what goes into it, and, where the extra ``site`` is installed, the site itself in a browser."""
