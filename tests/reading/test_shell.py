"""Pages that are nothing without their script are recognised, and others left alone."""

import pytest

from tests.reading.pages import PROSE, document, look
from thresher.core.page import Verdict
from thresher.reading.inspect.report import PageKind
from thresher.reading.verdict.emptiness import shell


@pytest.mark.parametrize(
    "body",
    [
        '<div id="root"></div><script src="/static/js/main.js"></script>',
        "<noscript>You need to enable JavaScript to run this app.</noscript><div></div><script src='a.js'></script>",
        "<app-root></app-root><script src='a.js'></script>",
        "<h1>Careers</h1><p>Loading</p><script src='a.js'></script>",
        "<noscript>Bitte aktivieren Sie JavaScript</noscript><script src='a.js'></script>",
    ],
)
def test_a_frame_that_a_script_is_to_fill_is_a_shell(body: str):
    assert shell(document(body))


@pytest.mark.parametrize(
    "body",
    [
        f'<div id="root">{PROSE}</div><script src="a.js"></script>',
        f"<noscript>Please enable JavaScript for the map.</noscript>{PROSE}<script src='a.js'></script>",
        "<h1>Closed on Mondays</h1><p>Come back on Tuesday.</p>",
        "<div id=root></div>",
    ],
)
def test_a_page_that_can_be_read_is_no_shell(body: str):
    assert shell(document(body)) is None


@pytest.mark.promise(7)
def test_a_shell_is_unknown_never_empty():
    seen = look(
        '<title>Careers</title><div id="root"></div><script src="a.js"></script>',
        "https://acme.example/careers",
    )
    assert seen.look.verdict is Verdict.UNKNOWN
    assert seen.kind is PageKind.SHELL
    assert "--render" in seen.look.reason


@pytest.mark.promise(7)
def test_a_shell_that_carries_its_rows_in_a_script_is_found():
    data = '{"Jobs": [{"JobId": 7, "JobTitle": "Ladder maker"}], "ModuleTitle": "Acme"}'
    seen = look(f'<div id="root"></div><script>window.pageData = {data};</script>')
    assert seen.look.verdict is Verdict.FOUND
    assert [posting.title for posting in seen.postings] == ["Ladder maker"]
