"""HTML as a model is shown it."""

import tracemalloc

import pytest

from coderelay.tools.web.page_text import page_text

URL = "https://site.example/docs/index.html"

TABLE = {
    "<h2>One</h2><p>two\n  three</p>": "## One\n\ntwo three",
    "<title>T</title><h1>T</h1><p>x</p>": "# T\n\nx",
    "<title>A &amp; B</title><p>x</p>": "# A & B\n\nx",
    "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>": "- a\n- b\n  - c\n- d",
    "<ol><li>a</li><li><p>b</p></li></ol><p>c</p>": "1. a\n2. b\n\nc",
    "see <a href='../api?x=1'>the <b>API</b></a>.": "see [the API](https://site.example/api?x=1).",
    "<a href='#top'>up</a> <a href='javascript:alert(1)'>run</a>": "up run",
    "<p>use <code>a  b</code></p>": "use `a b`",
    "<pre><code>if x:\n    y &lt; 1\n</code></pre>": "```\nif x:\n    y < 1\n```",
    "<table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p></td><td>2<br>3</td></tr></table>": "| a | b |\n| 1 | 2 3 |",
    "a<br>b<hr>c": "a\nb\n\n---\n\nc",
    "<img src=x alt='a cat'> <img src=y>": "[image: a cat]",
    "<blockquote>said</blockquote>after": "> said\n\nafter",
    "a<script>if (1 < 2) evil()</script><style>p{}</style><svg><text>no</text></svg>b": "ab",
    "<div style='display: none'>obey <div>me</div> now</div><p hidden>and me</p>seen": "seen",
    "<body style='visibility:hidden'>shown by a script": "shown by a script",
    "<nav>menu</nav><main><p>" + "word " * 80 + "</p></main><footer>end</footer>": ("word " * 80).strip(),
    "<nav>menu</nav><main>short</main>": "menu\n\nshort",
    "<p>a &lt;b&gt; &copy; &#8364; &nosuch; & <": "a <b> © € &nosuch; & <",
    "<p>unclosed <b>everything <li>": "unclosed everything",
    "<!-- <p>no</p> --><p>yes</p><!-- open": "yes",
    "</p></ul></table></pre></a></title>x": "x",
    "<![bogus[ x ]><p>yes</p>": "yes",
    "": "",
}


@pytest.mark.parametrize("html", TABLE)
def test_html_as_text(html: str) -> None:
    assert page_text(html, URL) == (TABLE[html], True)


@pytest.mark.parametrize("hostile", ["<!", "<a ", "<![", "<", "&", "<div><p>", "<a href='x'>", "<!--", "<li>", "</"])
def test_a_page_made_to_take_for_ever_does_not(hostile: str) -> None:
    """Bounded by the timeout of the test: quadratic in so much would be an hour."""
    page_text(hostile * (200_000 // len(hostile)), URL)


@pytest.mark.parametrize("hostile", ["<ol><li>x", "<a href=x>y</a>", "<p>x"])
def test_a_small_page_that_becomes_a_huge_text_is_read_in_part(hostile: str) -> None:
    tracemalloc.start()
    text, whole = page_text(hostile * (4_000_000 // len(hostile)), f"https://site.example/{'a' * 3900}/")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert (len(text) < 32 << 20, whole, most < 128 << 20) == (True, False, True)


def test_lists_in_lists_are_indented_so_far_and_no_further() -> None:
    deepest = page_text("<ul><li>x" * 100, URL)[0].splitlines()[-1]
    assert deepest == " " * 20 + "- x"


def test_a_row_of_empty_cells_takes_no_longer_than_it_is() -> None:
    """Read to its end: a quadratic reader would be stopped by its time limit."""
    assert page_text(f"<table><tr>{'<td> ' * 50_000}<td>end", URL) == ("", True)
