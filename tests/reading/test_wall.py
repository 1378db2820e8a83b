"""Walls are called walls; pages that merely mention or use what walls use are not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thresher.reading.text.vocabulary import Words, plain, vocabulary
from thresher.reading.verdict.wall import ENOUGH, SHORT, thorough, wall

PROSE = (
    "<p>"
    + "The ladder stands against the wall and nobody climbs it today, because the rain has not stopped. " * 60
    + "</p>"
)

WALLS = {
    "cloudflare, by header": (403, {"cf-mitigated": "challenge"}, "<html><body>...</body></html>"),
    "cloudflare, by title": (
        503,
        {},
        "<title>Just a moment...</title><body><p>Checking your browser before accessing the site.</p></body>",
    ),
    "cloudflare, by script": (
        200,
        {},
        "<title>acme</title><body><script>window._cf_chl_opt={cvId:'3'};</script></body>",
    ),
    "cloudflare, blocked": (
        403,
        {},
        "<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>",
    ),
    "datadome": (403, {}, "<body><script src='https://geo.captcha-delivery.com/captcha/x'></script></body>"),
    "datadome, as data": (403, {}, '{"url":"https://geo.captcha-delivery.com/captcha/?initialCid=1"}'),
    "human": (403, {}, '<title>Access to this page has been denied</title><div id="px-captcha"></div>'),
    "akamai": (
        403,
        {},
        "<title>Access Denied</title><h1>Access Denied</h1>You don't have permission to access this. Reference #18.2",
    ),
    "akamai, later": (200, {}, '<body><div id="sec-if-cpt-container"></div></body>'),
    "imperva": (
        200,
        {},
        '<iframe src="/_Incapsula_Resource?CWUDNSAI=9">Request unsuccessful. Incapsula incident ID: 1</iframe>',
    ),
    "distil": (
        200,
        {},
        "<title>Pardon Our Interruption</title><p>Something about your browser made us think you are a bot.</p>",
    ),
    "aws": (405, {"x-amzn-waf-action": "captcha"}, ""),
    "google": (429, {}, "<p>Our systems have detected unusual traffic from your computer network.</p>"),
    "amazon": (
        200,
        {},
        "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot.</p><input>",
    ),
    "a captcha alone": (200, {}, '<title>acme</title><body><div class="g-recaptcha"></div></body>'),
    "turnstile": (
        200,
        {},
        '<title>acme</title><h1>Verify you are human</h1><div class="cf-turnstile"></div>',
    ),
    "german": (200, {}, "<h1>Bitte bestätigen Sie, dass Sie kein Roboter sind</h1>"),
    "french": (403, {}, "<title>Accès refusé</title><p>Trafic inhabituel</p>"),
    "spanish": (200, {}, "<h1>¿Eres un robot?</h1><p>Hemos detectado actividad inusual.</p>"),
    "italian": (200, {}, "<h2>Verifica di essere umano</h2>"),
    "russian": (200, {}, "<h1>Подтвердите, что вы не робот</h1>"),
    "chinese": (200, {}, "<title>安全验证</title><p>请完成安全验证</p>"),
    "japanese": (200, {}, "<p>私はロボットではありません</p>"),
    "sign-in": (
        200,
        {},
        "<title>Sign in to continue</title><form><input type=email><input type=password><button>Sign in</button></form>",
    ),
    "authwall": (
        200,
        {},
        '<title>acme</title><body class="authwall"><main id="authwall">Join to see more</main></body>',
    ),
    "a headline alone": (
        200,
        {},
        "<title>Security Check</title><h1>Acme</h1><p>Wait a little.</p><script src=x.js></script>",
    ),
    "one that says it in twelve languages": (
        403,
        {},
        "<title>Just a moment...</title><body>"
        + "<h1>People only</h1><p>We keep this site safe for everybody who works here.</p>" * 12
        + f"<p>{'If you think that this is a mistake, read our help. ' * 60}</p>"
        + "<script>window._cf_chl_opt={cvId:'3'};</script></body>",
    ),
    "consent": (
        200,
        {},
        '<h1>Before you continue</h1><form action="https://consent.google.com/save"><button>Accept all</button></form>',
    ),
    "consent of one's own": (
        200,
        {},
        "<div id=consent-wall><h1>Before you go on</h1><p>We use cookies.</p><button>Accept</button></div>",
    ),
}

ORDINARY = {
    "an article about captchas": f"<title>How CAPTCHAs verify you are human</title><h1>Are you a robot?</h1><article>{PROSE}</article>",
    "an article that quotes a wall's script": f"<title>Reading walls</title><pre>window._cf_chl_opt</pre><article>{PROSE}</article>",
    "an article titled as a wall that quotes its script": "<title>Just a moment...</title><h1>A wall</h1>"
    f"<pre>window._cf_chl_opt</pre><article>{PROSE}</article>",
    "a long page with a wall's script and a title of its own": "<title>Ladders</title>"
    f"<article>{PROSE}</article><script>window._cf_chl_opt={{}};</script>",
    "a short note that quotes a wall's script": "<title>Notes</title><h1>Scripts</h1><p>Look for window._cf_chl_opt in the page.</p>",
    "a contact form with a captcha": "<title>Contact us</title><form><input name=a><input type=email><textarea></textarea>"
    '<div class="g-recaptcha"></div></form><p>Write to us about anything at all, we answer within two days.</p>',
    "a shop behind a protection": f'<script src="https://js.datadome.co/tags.js"></script><title>Shop</title>{PROSE}',
    "a page with cloudflare's own script": "<title>Acme</title><h1>Ladders</h1><p>We make ladders.</p>"
    '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>',
    "a site with a sign-in box": f"<title>Acme ladders</title>{PROSE}<form><input><input type=password></form>",
    "a cookie banner": f"<title>Acme</title><div id=cookie-consent>We use cookies <button>Accept</button></div>{PROSE}",
    "a page behind an overlay": f'<title>Acme</title><div class="cookie-wall">We use cookies <button>Accept</button></div>{PROSE}',
    "a short page": "<title>Acme</title><h1>Ladders</h1><p>We make ladders of wood and steel.</p>",
    "an empty page": "",
    "a page about checks": f"<title>Airport security check: how it works</title><h1>Security check</h1>{PROSE}",
    "a form that is headed so": "<title>Verification required</title><form><input name=a><input name=b><textarea></textarea></form>",
    "robots in the head": '<title>Robots for sale</title><meta name="robots" content="index"><h1>Our robots</h1><p>Blue and red ones.</p>',
}


@pytest.mark.parametrize("name", WALLS)
@pytest.mark.promise(10)
def test_a_wall_is_called_a_wall(name: str):
    status, headers, text = WALLS[name]
    assert wall(status, headers, text)


@pytest.mark.parametrize("name", ORDINARY)
@pytest.mark.promise(10)
def test_an_ordinary_page_is_no_wall(name: str):
    assert wall(200, {}, ORDINARY[name]) is None


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (429, "<title>429 Too Many Requests</title><h1>Too Many Requests</h1><hr>nginx"),
        (
            503,
            "<title>503 Service Temporarily Unavailable</title><h1>503 Service Temporarily Unavailable</h1>",
        ),
        (403, "<title>403 Forbidden</title><h1>403 Forbidden</h1>"),
        (404, "<title>Not found</title><h1>Page not found</h1>"),
        (500, "<h1>Internal Server Error</h1>"),
    ],
)
@pytest.mark.promise(10)
def test_an_ordinary_refusal_is_no_wall(status: int, text: str):
    assert wall(status, {}, text) is None


def test_the_reason_quotes_what_the_page_says():
    why = wall(200, {}, "<title>Pardon Our Interruption</title>")
    assert why == 'a page that says "pardon our interruption"'


@given(st.text(max_size=500), st.integers(100, 599))
@settings(deadline=None)
def test_any_text_has_an_answer(text: str, status: int):
    assert wall(status, {}, text) is None or text


@pytest.mark.promise(18)
def test_a_very_large_page_is_not_searched():
    assert wall(200, {}, "<title>Just a moment...</title>" + "x" * 1_000_000) is None


# What may stand in a page and end the beginning of it in an awkward place, swallow what follows, or move what
# came before.
ODDITIES = [
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "<style>",
    "</style>",
    "<template>",
    "</template>",
    "<title>",
    "</title>",
    "<textarea>",
    "</textarea>",
    "<table>",
    "<tr><td>",
    "</table>",
    "<frameset>",
    "<frame>",
    "<body hidden>",
    "</body>",
    "</html>",
    "<noscript>",
    "</noscript>",
    "<noframes>",
    "<svg>",
    "</svg>",
    "<math><mi>",
    "<select><option>",
    "</select>",
    "<ol reversed><li>",
    "<b><p>",
    "</b>",
    "<h1>",
    "</h1>",
    "<div title='",
    "'>",
    '<a href="x',
    '">',
    "<",
    "&",
    "&NotSquareSupersetEqua",
    "&nbsp;",
    "&#x130;",
    "<pre>",
    "</pre>",
    "<plaintext>",
    "<iframe>",
    "</iframe>",
    "<li>",
    "<input type=password>",
    "<div class=g-recaptcha>",
    "<h1>Just a moment</h1>",
    "<h2>Verify you are human</h2>",
    "Access denied",
    "<![CDATA[",
    "]]>",
]
TEXTS = [
    "<p>word</p>",
    "<p>The ladder stands against the wall.</p>",
    "x",
    " ",
    "İ",
    "\xa0",
    "<p></p>",
    "<li>one",
    "not a robot ",
]
RUNS = st.tuples(st.sampled_from(TEXTS), st.integers(0, 1_500)).map(lambda run: run[0] * run[1])
PAGES = st.lists(st.sampled_from(ODDITIES) | RUNS, max_size=8).map(lambda pieces: "<p>" + "".join(pieces))


@pytest.mark.promise(10)
@given(PAGES, st.sampled_from([200, 403]))
def test_what_the_beginning_of_a_page_shows_never_changes_the_answer(text: str, status: int):
    assert wall(status, {}, text) == thorough(status, text)


@pytest.mark.parametrize(
    "name", [name for name in WALLS if not WALLS[name][1] and not WALLS[name][2].startswith("{")]
)
@pytest.mark.promise(10)
def test_a_wall_with_a_long_script_or_comment_in_front_is_still_one(name: str):
    status, _, text = WALLS[name]
    prose = "<p>word</p>" * ENOUGH
    for hidden in (
        f"<!--{prose}-->",
        f"<script>var x = '{prose}'</script>",
        f"<template>{prose}</template>",
        f"<style>{prose}</style>",
    ):
        assert wall(status, {}, hidden + text) == thorough(status, hidden + text)
        assert wall(status, {}, hidden + text)


def test_the_length_of_a_text_in_lower_case_is_known_beforehand():
    assert [chr(code) for code in range(0x110000) if len(chr(code).lower()) != 1] == ["İ"]


def test_a_page_that_begins_with_much_text_is_not_parsed_further():
    long = "<h1>Just a moment</h1><p>" + "word " * SHORT + "</p>" * 10
    assert wall(403, {}, long) is None
    assert thorough(403, long) is None


PIECES = [
    "verify",
    "you",
    "are",
    "human",
    "security",
    "check",
    "one more step",
    "x",
    "安全",
    "验证",
    "-",
    ".",
]


@given(st.lists(st.sampled_from(PIECES)), st.booleans())
@settings(deadline=None)
def test_a_phrase_is_found_wherever_it_stands_as_whole_words(pieces: list[str], spaced: bool):
    phrases = [
        "verify you are human",
        "security check",
        "check",
        "one more step",
        "安全验证",
        "are you human",
    ]
    text = (" " if spaced else "").join(pieces)
    ends = (" " + plain(text) + " ").replace(".", " ").replace("-", " ")
    expected = any(f" {each} " in ends for each in phrases) or "安全验证" in text
    assert (Words(phrases).quote(text) is not None) == expected


def test_every_sign_is_found_by_one_of_the_roots():
    known = vocabulary("wall")
    scripts = [sign for signs in known["scripts"].values() for sign in signs]
    signs = [*scripts, *known["captchas"], *known["consent"], *known["consent_walls"]]
    assert [sign for sign in signs if not any(root in sign for root in known["roots"])] == []
