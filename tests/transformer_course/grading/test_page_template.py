from html.parser import HTMLParser

from transformer_course.grading.page_template import PAGE_TEMPLATE


def test_a_page_may_load_nothing_and_run_nothing():
    tags: list[tuple[str, dict[str, str | None]]] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: tags.append((tag, dict(attrs)))  # type: ignore[method-assign]
    parser.feed(PAGE_TEMPLATE.format(title="Ada", body="<p>A word.</p>"))
    [policy] = [attrs["content"] for _, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    assert ("html", {"lang": "en"}) in tags and ("p", {}) in tags
    assert not any(tag == "script" or {"src", "href"} & attrs.keys() for tag, attrs in tags)
