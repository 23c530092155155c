"""What every page of the grader is put into: it needs no script, and loads nothing."""

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
pre, code {{ font-family: ui-monospace, monospace; overflow-wrap: anywhere }}
table {{ border-collapse: collapse }}
caption {{ text-align: left; margin-bottom: 0.3em }}
th, td {{ padding: 0.25em 0.7em; text-align: right; border-bottom: 1px solid GrayText; vertical-align: middle }}
th:first-child, td:has(.bar) {{ text-align: left }}
.bar {{ height: 0.8em; background: #4a7ec0; border-radius: 2px }}
.wide {{ overflow-x: auto }}
th code {{ white-space: nowrap }}
li summary {{ margin: 0.2em 0 }}
</style>
{body}
</html>
"""
