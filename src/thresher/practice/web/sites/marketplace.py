"""A marketplace with an API in the shape of eBay's: tokens by client credentials, what is for sale (Browse)
and what was sold (Marketplace Insights).

Three clients are known: one that may see everything, one whose token is refused the scope of the sales, and
one that gets such a token and is then turned away.
"""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode

from thresher.practice.web.answer import WebRequest, WebResponse, data, plain, whole
from thresher.practice.web.clock import DAY_ZERO
from thresher.practice.web.draw import token
from thresher.practice.web.sites.marketplace_goods import Offer, Role, asked, sold
from thresher.practice.web.window import window

SECRET = "practice-secret-of-the-marketplace"  # noqa: S105  it opens nothing but this site
CLIENT = "practice-client"  # may see everything
BROWSE_ONLY = "practice-client-browse"  # is not granted the scope of the sales
TURNED_AWAY = "practice-client-closed"  # is granted the scope, and gets 403 all the same
SCOPE = "https://api.ebay.com/oauth/api_scope"
SALES_SCOPE = f"{SCOPE}/buy.marketplace.insights"
LIFETIME = 7_200  # seconds of a token
MAX_LIMIT = 200
MAX_QUERY = 100  # characters
RATES = {"EBAY_US": ("USD", 100), "EBAY_GB": ("GBP", 79), "EBAY_DE": ("EUR", 92)}
_WORDS = re.compile(r"\w+")


def site(ask: WebRequest) -> WebResponse:
    """`/identity/v1/oauth2/token`, `/buy/browse/...`, `/buy/marketplace_insights/...`."""
    match (ask.method, ask.parts):
        case ("POST", ("identity", "v1", "oauth2", "token")):
            return _token(ask)
        case ("GET", ("buy", "browse", "v1", "item_summary", "search")):
            return _search(ask, asked(ask.seed, ask.now), "itemSummaries", _summary)
        case ("GET", ("buy", "marketplace_insights", "v1_beta", "item_sales", "search")):
            return _search(ask, sold(ask.seed, ask.now), "itemSales", _sale)
        case (_, ("robots.txt",)):
            return plain("", 404)
        case _:
            return _errors(404, 2002, "Resource not found", "API_GATEWAY")


# Tokens. Nothing is remembered: a token says itself whom it was made for, and a signature proves it.


def _token(ask: WebRequest) -> WebResponse:
    client = _client(ask)
    if client is None:
        return _refused(401, "invalid_client", "client authentication failed")
    said = {name: values[0] for name, values in parse_qs(ask.body.decode("utf-8", "replace")).items()}
    if said.get("grant_type") != "client_credentials":
        return _refused(400, "unsupported_grant_type", "grant type in request is not supported")
    scope = said.get("scope", SCOPE)
    if scope not in (SCOPE, SALES_SCOPE) or (scope == SALES_SCOPE and client == BROWSE_ONLY):
        return _refused(
            400,
            "invalid_scope",
            "The requested scope is invalid, unknown, malformed, or exceeds the scope granted to the client",
        )
    issued = round((ask.now - DAY_ZERO).total_seconds())
    made = _signed(ask, client, "sales" if scope == SALES_SCOPE else "browse", issued, ask.count)
    return data({"access_token": made, "expires_in": LIFETIME, "token_type": "Application Access Token"})


def _client(ask: WebRequest) -> str | None:
    kind, _, written = ask.headers.get("authorization", "").partition(" ")
    if kind.lower() != "basic":
        return None
    try:
        client, _, secret = b64decode(written).decode().partition(":")
    except (NotBase64, UnicodeDecodeError):
        return None
    return client if client in (CLIENT, BROWSE_ONLY, TURNED_AWAY) and secret == SECRET else None


def _signed(ask: WebRequest, client: str, scope: str, issued: int, count: int) -> str:
    said = f"{client}.{scope}.{issued}.{count}"
    return f"v^1.1#{said}#{token(ask.seed, 'token', said, size=32)}"


def _turned_away(ask: WebRequest, *, sales: bool) -> WebResponse | None:
    """What the token of a request does not allow."""
    kind, _, held = ask.headers.get("authorization", "").partition(" ")
    said = held.split("#")[1] if held.count("#") == 2 else ""
    client, scope, issued, count = (said.split(".") + [""] * 4)[:4]
    if kind != "Bearer" or held != _signed(ask, client, scope, _number(issued), whole(count)):
        return _errors(401, 1001, "Invalid access token", "OAuth")
    if ask.now - DAY_ZERO - timedelta(seconds=_number(issued)) >= timedelta(seconds=LIFETIME):
        return _errors(401, 1001, "Invalid access token", "OAuth")
    if sales and (scope != "sales" or client == TURNED_AWAY):
        return _errors(
            403, 1100, "Access denied", "ACCESS", "Insufficient permissions to fulfill the request."
        )
    return None


def _number(text: str) -> int:
    return -whole(text[1:]) if text.startswith("-") else whole(text)


# Results.


def _search(
    ask: WebRequest, offers: Sequence[Offer], rows: str, shown: Callable[[WebRequest, Offer], dict[str, Any]]
) -> WebResponse:
    sales = rows == "itemSales"
    if (problem := _turned_away(ask, sales=sales)) is not None:
        return problem
    query, limit, offset = ask.query.get("q", ""), ask.number("limit", 50), ask.number("offset", 0)
    if not query or len(query) > MAX_QUERY or "*" in query:
        return _errors(400, 12001, "The call must have a valid 'q' query parameter.", "API_BROWSE")
    if not 1 <= limit <= MAX_LIMIT or offset < 0 or offset % limit:
        return _errors(400, 12002, "The 'limit' or 'offset' value is invalid.", "API_BROWSE")
    if ask.headers.get("x-ebay-c-marketplace-id", "EBAY_US") not in RATES:
        return _errors(400, 12003, "The marketplace is not supported.", "API_BROWSE")
    fitting = [each for each in offers if _fits(query, each.title, sales=sales)]
    page = window(ask, fitting, offset, limit)
    here = f"https://{ask.host}{ask.path}"
    kept = {name: value for name, value in ask.query.items() if name not in ("limit", "offset")}
    answer: dict[str, Any] = {
        "href": f"{here}?{urlencode({**kept, 'limit': limit, 'offset': offset})}",
        "total": page.total,
        "limit": limit,
        "offset": offset,
    }
    if offset + limit < page.total and page.rows:
        answer["next"] = f"{here}?{urlencode({**kept, 'limit': limit, 'offset': offset + limit})}"
    if page.rows:
        answer[rows] = [shown(ask, each) for each in page.rows]
    return data(answer)


def _fits(query: str, title: str, *, sales: bool) -> bool:
    """A space means AND where things are for sale. Where they were sold, a comma does, and a space means
    OR.
    """
    there = set(_WORDS.findall(title.lower()))
    if not sales:
        return there.issuperset(_WORDS.findall(query.lower()))
    return all(
        not there.isdisjoint(words) for part in query.split(",") if (words := _WORDS.findall(part.lower()))
    )


def _summary(ask: WebRequest, each: Offer) -> dict[str, Any]:
    row: dict[str, Any] = {
        "itemId": f"v1|{each.id}|0",
        "title": each.title,
        "price": _money(ask, each.cents if each.low is None else each.low),
        "condition": each.condition,
        "shippingOptions": [{"shippingCostType": "FIXED", "shippingCost": _money(ask, each.shipping)}],
        "buyingOptions": ["FIXED_PRICE"],
        "itemWebUrl": f"https://shop.marketplace.example{each.path}",
        "itemCreationDate": each.listed.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "seller": {"username": f"seller-{each.id % 17}", "feedbackPercentage": "99.1"},
    }
    if each.was is not None:
        row["marketingPrice"] = {"originalPrice": _money(ask, each.was), "discountPercentage": "10"}
    if each.role is Role.VARIANTS:
        row["itemGroupType"] = "SELLER_DEFINED_VARIATIONS"
        row["itemGroupHref"] = (
            f"https://{ask.host}/buy/browse/v1/item/get_items_by_item_group?item_group_id={each.id}"
        )
    return row


def _sale(ask: WebRequest, each: Offer) -> dict[str, Any]:
    assert each.sold is not None
    row = {
        "itemId": f"v1|{each.id}|0",
        "title": each.title,
        "lastSoldPrice": _money(ask, each.cents if each.low is None else each.low),
        "lastSoldDate": each.sold.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "totalSoldQuantity": 1,
        "condition": each.condition,
        "buyingOptions": ["FIXED_PRICE"],
        "itemWebUrl": f"https://shop.marketplace.example{each.path}",
    }
    if each.role is Role.VARIANTS:
        row["itemGroupType"] = "SELLER_DEFINED_VARIATIONS"
    return row


def _money(ask: WebRequest, cents: int) -> dict[str, str]:
    currency, rate = RATES[ask.headers.get("x-ebay-c-marketplace-id", "EBAY_US")]
    here = cents * rate // 100
    return {"value": f"{here / 100:.2f}", "currency": currency}


def _errors(status: int, number: int, message: str, domain: str, more: str = "") -> WebResponse:
    said = {
        "errorId": number,
        "domain": domain,
        "category": "REQUEST",
        "message": message,
        "longMessage": more or message,
    }
    return data({"errors": [said]}, status)


def _refused(status: int, error: str, more: str) -> WebResponse:
    return data({"error": error, "error_description": more}, status)
