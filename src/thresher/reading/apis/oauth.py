"""Tokens for the credentials of a client (OAuth 2.0, RFC 6749, section 4.4): the request for one, and what
the answer says.

The secrets stand in the credentials of the request alone, and the request asks that nobody stores its answer.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

import orjson

from thresher.core.credentials import Credentials
from thresher.core.errors import ConfigError
from thresher.reading.apis.answer import masked
from thresher.reading.apis.definition import OAuth
from thresher.reading.platforms.calls import Call

MAX_TOKEN = 8_000  # characters: it is sent as a header
MAX_LIFE = 86_400  # seconds for which a token is used at most, whatever the answer says
DEFAULT_LIFE = 600  # seconds, where the answer does not say
MAX_CODE = 60
BAD_CLIENT = frozenset({"invalid_client", "unauthorized_client"})
BAD_SCOPE = "invalid_scope"


@dataclass(frozen=True, slots=True)
class Token:
    """An access token, and for how many seconds it holds."""

    value: str = field(repr=False)
    seconds: int = DEFAULT_LIFE


@dataclass(frozen=True, slots=True)
class NoToken:
    """The answer has no token: the code of its error, if it names one, and a sentence for a person."""

    reason: str
    code: str = ""


def token_call(name: str, oauth: OAuth, env: Mapping[str, str]) -> Call:
    """The request for a token. Raises ConfigError that names every variable that is missing."""
    client, secret = client_of(name, oauth, env)
    # Both are form-encoded before they are joined (RFC 6749, section 2.3.1): either may hold a colon.
    written = f"{quote(client, safe='')}:{quote(secret, safe='')}"
    basic = f"Basic {base64.b64encode(written.encode()).decode()}"
    form = {"grant_type": "client_credentials", **({"scope": oauth.scope} if oauth.scope else {})}
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "accept": "application/json",
        "cache-control": "no-store",
    }
    credentials = Credentials(oauth.origin, {"authorization": basic})
    return Call(oauth.url, "POST", headers, urlencode(form).encode(), credentials)


def client_of(name: str, oauth: OAuth, env: Mapping[str, str]) -> tuple[str, str]:
    """The client's id and secret. Raises ConfigError."""
    names = (oauth.client_id, oauth.client_secret)
    missing = [each for each in names if not env.get(each, "").strip()]
    if missing:
        several = "variables" if len(missing) > 1 else "variable"
        raise ConfigError(f"{name} needs credentials: set the environment {several} {' and '.join(missing)}")
    for each in names:
        value = env[each].strip()
        if not value.isprintable() or not value.isascii():
            raise ConfigError(
                f"the environment variable {each} does not hold valid credentials (a line break?); set it again"
            )
    return env[names[0]].strip(), env[names[1]].strip()


def read_token(body: bytes) -> Token | NoToken:
    """The token of an answer, which a stranger has written."""
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return NoToken("the answer is not JSON")
    if not isinstance(said, dict):
        return NoToken("the answer is not a JSON object")
    value, kind = said.get("access_token"), said.get("token_type")
    if not isinstance(value, str) or not value.strip():
        return refusal(body.decode("utf-8", "replace"))
    if len(value) > MAX_TOKEN or not value.isprintable() or not value.isascii():
        return NoToken("the token cannot be sent in a header")
    if isinstance(kind, str) and kind.lower() in ("mac", "dpop"):
        return NoToken(f"a token of the type {kind.lower()} must be signed, which is not supported")
    seconds = said.get("expires_in")
    if isinstance(seconds, str) and seconds.isascii() and seconds.isdigit() and len(seconds) < 12:
        seconds = int(seconds)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        seconds = DEFAULT_LIFE
    return Token(value.strip(), int(min(seconds, MAX_LIFE)))


def refusal(text: str) -> NoToken:
    """Why an answer has no token, in the words of RFC 6749, section 5.2, as far as it uses them."""
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return NoToken("the answer is not JSON")
    code = said.get("error") if isinstance(said, dict) else None
    if not isinstance(code, str):
        return NoToken("the answer has no token")
    more = said.get("error_description")
    words = masked(f"{code}: {more}" if isinstance(more, str) else code)
    return NoToken(words, code[:MAX_CODE])
