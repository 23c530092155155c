"""What every page of the grader is put into: it needs no script, and loads nothing."""

import html

PAGE_TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
h2, summary {{ margin: 1.5em 0 0.5em }}
summary {{ cursor: pointer }}
main {{ overflow-wrap: anywhere }}
pre, code {{ font-family: ui-monospace, monospace }}
table {{ border-collapse: collapse }}
caption {{ text-align: left; margin-bottom: 0.3em }}
th, td {{ padding: 0.25em 0.45em; text-align: right; border-bottom: 1px solid GrayText; vertical-align: middle }}
th:first-child, td:has(.bar) {{ text-align: left }}
.bar {{ height: 0.8em; background: #4a7ec0; border-radius: 2px }}
.wide {{ overflow-x: auto }}
th code {{ white-space: nowrap }}
li summary, .code summary {{ margin: 0.2em 0 }}
th, td {{ overflow-wrap: normal }}
pre.own {{ margin: 0.3em 0 0.6em; padding: 0.5em 1em; white-space: pre-wrap; border: 1px solid GrayText }}
mark {{ text-decoration: underline }}
</style>
{body}
</html>
"""


def preformatted(text: str) -> str:
    """Return what a learner has written, as it stands there."""
    return f'<pre class="own">{html.escape(text)}</pre>'
