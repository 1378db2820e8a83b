"""The requests of an API, filled in by its definition.

What somebody asks for is input: it is put into parameters and bodies, escaped, and into a path only where the
definition has a pattern for it. No request leaves the definition's origin, and no secret does.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote_plus

import ada_url
import orjson

from thresher.core.credentials import Credentials, origin_of
from thresher.core.errors import ConfigError, InvalidPayload
from thresher.core.keys import MAX_URL
from thresher.reading.apis.definition import HOLE, NUMBERS, Api, ApiRequest, Parameter, Secret
from thresher.reading.apis.paging import ListPlace
from thresher.reading.platforms.calls import Call

MAX_VALUE = 500  # characters of a parameter
_LISTED = re.compile(r"[,;]")


def check_given(owner: str, known: Iterable[str], given: Mapping[str, str]) -> None:
    """Refuse parameters that nobody knows, and values that are no single line. Raises ConfigError."""
    for name, value in given.items():
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise ConfigError(f"{owner} has no parameter {name!r}; its parameters are {names}")
        if len(value) > MAX_VALUE or not value.isprintable():
            raise ConfigError(
                f"the parameter {name} of {owner} is longer than {MAX_VALUE} characters, or has a "
                "character that cannot be printed; write it on one line"
            )


def check_parameters(api: Api, given: Mapping[str, str]) -> None:
    """Check that the parameters are there and fit. Raises ConfigError."""
    for name, parameter in api.parameters.items():
        value = given.get(name, "")
        if not value and (parameter.required or name in api.request.path_holes):
            raise ConfigError(f"{api.name} needs the parameter {name}: {parameter.help}")
        if value and parameter.choices and value not in parameter.choices:
            raise ConfigError(
                f"the parameter {name} of {api.name} is {value!r}; write one of {', '.join(parameter.choices)}"
            )
        if value and parameter.pattern and not re.fullmatch(parameter.pattern, value, re.ASCII):
            raise ConfigError(
                f"the parameter {name} of {api.name} is {value!r}, which does not fit {parameter.pattern}"
            )
        if name in api.request.path_holes and not set(value) - {"."}:
            raise ConfigError(f"the parameter {name} of {api.name} is {value!r}, which would change the path")


def list_call(api: Api, place: ListPlace, parts: Mapping[str, str], env: Mapping[str, str]) -> Call:
    """The request for the page of a list at a place. Raises ConfigError for a secret that is not set."""
    return replace(bare_call(api, place, parts), credentials=credentials_of(api, env))


def bare_call(api: Api, place: ListPlace, parts: Mapping[str, str]) -> Call:
    """The same without its secrets: to show, and to know where it goes."""
    sent = filled(api.request, {**parts, **_position(api, place)}, api.parameters)
    if api.paging.kind == "link" and place.at:
        return replace(sent, url=_checked_link(api, str(place.at)))
    return sent


def _position(api: Api, place: ListPlace) -> dict[str, str]:
    at, size = str(place.at), api.paging.size
    return {"page": at, "offset": at, "cursor": at, "size": str(size) if size else ""}


def filled(request: ApiRequest, parts: Mapping[str, str], parameters: Mapping[str, Parameter]) -> Call:
    """The request with its holes filled, each value escaped for the place where it stands."""
    path = HOLE.sub(lambda hole: quote(parts.get(hole[1], ""), safe=""), request.url)
    pairs = [
        f"{quote(name, safe='')}={quote(value, safe='')}"
        for name, template in request.query.items()
        for value in _values(template, parts, parameters)
    ]
    url = "?".join(filter(None, (path, "&".join(pairs))))
    if len(url) > MAX_URL:
        raise ConfigError(f"the query makes a URL of {len(url):,} characters; the limit is {MAX_URL:,}")
    body = b"" if request.body is None else orjson.dumps(_filled_body(request.body, parts, parameters))
    kind = {"content-type": "application/json"} if body else {}
    headers = {
        name: said
        for name, template in request.headers.items()
        if (said := HOLE.sub(lambda hole: parts.get(hole[1], ""), template)) or not template
    }
    return Call(url, request.method, {**kind, **headers}, body)


def listed(value: str) -> tuple[str, ...]:
    """The values of a parameter that lists several."""
    return tuple(each.strip() for each in _LISTED.split(value) if each.strip())


def _values(template: str, parts: Mapping[str, str], parameters: Mapping[str, Parameter]) -> Iterable[str]:
    """What a parameter is sent with: nothing, a value, or several one after the other."""
    only = HOLE.fullmatch(template)
    if only is None:
        return (HOLE.sub(lambda hole: parts.get(hole[1], ""), template),)
    value = parts.get(only[1], "")
    if only[1] in parameters and parameters[only[1]].repeat:
        return listed(value)
    return (value,) if value else ()


def _filled_body(value: Any, parts: Mapping[str, str], parameters: Mapping[str, Parameter]) -> Any:
    """The same in JSON, where nothing needs to be escaped. Counts are sent as numbers."""
    if isinstance(value, dict):
        made = {name: _filled_body(each, parts, parameters) for name, each in value.items()}
        return {name: each for name, each in made.items() if each is not None}
    if isinstance(value, list):
        return [_filled_body(each, parts, parameters) for each in value]
    if not isinstance(value, str):
        return value
    only = HOLE.fullmatch(value)
    if only is None:
        return HOLE.sub(lambda hole: parts.get(hole[1], ""), value)
    found = list(_values(value, parts, parameters))
    if only[1] in parameters and parameters[only[1]].repeat:
        return found or None
    return None if not found else int(found[0]) if only[1] in NUMBERS else found[0]


def detail_call(
    api: Api, detail: ApiRequest, parts: Mapping[str, str], env: Mapping[str, str]
) -> Call | None:
    """The request for one row; None where a row does not say what the request needs. What a row says is a
    stranger's, and must not change the path.
    """
    if not all(parts.get(name) for name in detail.holes):
        return None
    if any(not set(parts[name]) - {"."} for name in detail.path_holes):
        return None
    return replace(filled(detail, parts, {}), credentials=credentials_of(api, env))


# Secrets.


def credentials_of(api: Api, env: Mapping[str, str]) -> Credentials | None:
    """Everything secret that a request needs, for the definition's origin alone. Raises ConfigError."""
    headers: dict[str, str] = {}
    query: dict[str, str] = {}
    for secret in api.auth:
        target = query if secret.how == "query" else headers
        target[secret.name] = _secret(api, secret, env)
    return Credentials(api.request.origin, headers, query) if api.auth else None


def _secret(api: Api, secret: Secret, env: Mapping[str, str]) -> str:
    value = _from_env(api, secret.env, env)
    if secret.how == "basic":
        password = _from_env(api, secret.password_env, env)
        if ":" in value:
            raise ConfigError(f"the environment variable {secret.env} must not have a colon; set it again")
        return f"Basic {base64.b64encode(f'{value}:{password}'.encode()).decode()}"
    return f"Bearer {value}" if secret.how == "bearer" else value


def _from_env(api: Api, name: str, env: Mapping[str, str]) -> str:
    value = env.get(name, "").strip()
    if not value:
        raise ConfigError(f"{api.name} needs a key: set the environment variable {name}")
    if not value.isprintable() or not value.isascii():
        raise ConfigError(
            f"the environment variable {name} does not hold a valid key (a line break?); set it again"
        )
    return value


# Links.


def _checked_link(api: Api, link: str) -> str:
    url = same_origin(api, link, link)
    if url is None:
        raise InvalidPayload(f"the cursor of a list leads away from {api.name}; start the query again")
    return url


def same_origin(api: Api, link: str, base: str) -> str | None:
    """A link of the list's own origin, without the secrets that it may repeat; None where it leads
    elsewhere.
    """
    try:
        url = ada_url.join_url(base, link)
    except ValueError:
        return None
    if len(url) > MAX_URL or origin_of(url) != api.request.origin:
        return None
    secret = {each.name for each in api.auth if each.how == "query"}
    path, _, query = url.partition("#")[0].partition("?")
    kept = "&".join(each for each in query.split("&") if unquote_plus(each.partition("=")[0]) not in secret)
    return f"{path}?{kept}" if kept else path


def web_link(link: str | None, base: str) -> str | None:
    """A link made absolute; None where it is none of the web's."""
    if not link or len(link) > MAX_URL:
        return None
    try:
        url = ada_url.join_url(base, link.strip())
    except ValueError:
        return None
    return url if url.startswith(("https://", "http://")) and len(url) <= MAX_URL else None
