"""Walls: pages that stand in front of a site. The marks are those that walls of each kind bear; the words are
our own.
"""

from html import escape
from types import MappingProxyType

from thresher.practice.web.answer import WebRequest, WebResponse, page
from thresher.practice.web.draw import token
from thresher.practice.web.prose import document


def _challenge(ask: WebRequest) -> tuple[str, str, dict[str, str]]:
    ray = token(ask.seed, ask.host, ask.count, size=16)
    script = '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>'
    body = (
        f'<div class="main-wrapper"><h1>{escape(ask.host)}</h1>'
        '<h2 id="challenge-running">Checking that you are not a machine. Wait a moment.</h2><div id="cf-chl-widget"></div>'
        f"<noscript>Turn on JavaScript and cookies to go on</noscript>{script}<p>Ray ID: <code>{ray}</code></p></div>"
    )
    return (
        "Just a moment...",
        body,
        {"server": "cloudflare", "cf-ray": f"{ray}-FRA", "cf-mitigated": "challenge"},
    )


def _turnstile(ask: WebRequest) -> tuple[str, str, dict[str, str]]:
    body = (
        '<h1>One more step</h1><p>Show that you are a person to go on.</p><div class="cf-turnstile" data-sitekey="0x4AAAAPRACTICE"></div>'
        '<script src="https://challenges.cloudflare.com/turnstile/v0/api.js" async defer></script>'
    )
    return f"Attention | {ask.host}", body, {"server": "cloudflare"}


def _recaptcha(ask: WebRequest) -> tuple[str, str, dict[str, str]]:
    body = (
        f"<h1>Are you a robot?</h1><p>We saw unusual traffic from your network to {escape(ask.host)}. Tick the box to go on.</p>"
        '<form action="/verify" method="post"><div class="g-recaptcha" data-sitekey="6LcPRACTICE"></div><button>Go on</button></form>'
        '<script src="https://www.google.com/recaptcha/api.js"></script>'
    )
    return "Robot check", body, {}


def _hcaptcha(ask: WebRequest) -> tuple[str, str, dict[str, str]]:
    body = (
        f'<h1>Please verify you are human</h1><p>{escape(ask.host)} asks you to solve a puzzle.</p><div class="h-captcha" '
        'data-sitekey="practice"></div>'
        '<script src="https://js.hcaptcha.com/1/api.js" async defer></script>'
    )
    return "Verification", body, {}


def _datadome(ask: WebRequest) -> tuple[str, str, dict[str, str]]:
    mark = token(ask.seed, ask.host, "dd", size=32)
    body = (
        "<p>Please enable JS and disable any ad blocker</p>"
        f"<script>var dd={{'rt':'c','cid':'{mark}','hsh':'{mark[:12].upper()}','t':'bv','host':'geo.captcha-delivery.com'}}</script>"
        '<script src="https://ct.captcha-delivery.com/c.js"></script>'
    )
    return (
        ask.host,
        body,
        {"x-datadome": "protected", "set-cookie": f"datadome={mark}; Path=/; Secure; SameSite=Lax"},
    )


def _perimeter(ask: WebRequest) -> tuple[str, str, dict[str, str]]:
    mark = token(ask.seed, ask.host, ask.count, size=32)
    body = (
        "<h1>Access to this page has been denied</h1><p>We think you use a program to look at this site. Press and hold to show that "
        "you do not.</p>"
        f'<div id="px-captcha"></div><p>Reference ID: {mark}</p><script>window._pxAppId = "PXpractice";</script>'
        '<script src="https://captcha.px-cdn.net/PXpractice/captcha.js"></script>'
    )
    return "Access denied", body, {}


def _edge(ask: WebRequest) -> tuple[str, str, dict[str, str]]:
    mark = f"18.{token(ask.seed, ask.host, ask.count, size=8)}.1772442000.{token(ask.seed, ask.host, size=7)}"
    body = (
        f'<h1>Access Denied</h1><p>You don\'t have permission to access "http&#58;&#47;&#47;{escape(ask.host)}{escape(ask.path)}" on '
        "this server.</p>"
        f"<p>Reference&#32;&#35;{mark}</p><p>https&#58;&#47;&#47;errors&#46;edgesuite&#46;net&#47;{mark}</p>"
    )
    return "Access Denied", body, {"server": "AkamaiGHost"}


def _plain(ask: WebRequest) -> tuple[str, str, dict[str, str]]:
    body = (
        f"<h1>Slow down</h1><p>Automated access to {escape(ask.host)} is not allowed. Enter the characters you see below.</p>"
        '<form action="/validateCaptcha"><img src="/captcha.jpg" alt="captcha"><input name="captchacharacters"><button>Go on'
        "</button></form>"
    )
    return "Robot Check", body, {}


WALLS = MappingProxyType(
    {
        "cloudflare": _challenge,
        "turnstile": _turnstile,
        "recaptcha": _recaptcha,
        "hcaptcha": _hcaptcha,
        "datadome": _datadome,
        "perimeterx": _perimeter,
        "akamai": _edge,
        "plain": _plain,
    }
)


def wall(ask: WebRequest, vendor: str, status: int) -> WebResponse:
    """The wall of a vendor; `plain` is one that somebody wrote themselves."""
    title, body, headers = WALLS[vendor or "plain"](ask)
    answer = page(document(title, body, head='<meta name="robots" content="noindex,nofollow">'), status)
    return WebResponse(
        status, answer.body, {**answer.headers, **headers, "cache-control": "no-store, max-age=0"}
    )


def consent(ask: WebRequest) -> WebResponse | None:
    """The page that wants to be agreed with first; None for who brings the cookie."""
    if "consent=" in ask.headers.get("cookie", ""):
        return None
    body = (
        f'<div id="consent-wall"><h1>Before you go on to {escape(ask.host)}</h1>'
        "<p>We and our 743 partners store cookies on your device.</p>"
        f'<form action="/consent" method="post"><input type="hidden" name="back" value="{escape(ask.path)}">'
        '<button name="set" value="all">Accept all</button> <button name="set" value="none">Reject all</button></form></div>'
    )
    return page(document("Before you go on", body))
