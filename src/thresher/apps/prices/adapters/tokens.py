"""The access tokens of this process, kept in memory alone: each is fetched once however many tasks need it,
until shortly before it expires, and never stored.

They belong to one event loop, as the fetcher does. Whoever finds a token refused has it forgotten; only that
very token goes, so that a new one that another task has fetched meanwhile stays.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from thresher.core.clock import MINUTE, SECOND
from thresher.core.context import Context
from thresher.core.credentials import Credentials, origin_of
from thresher.core.errors import Malformed, Permanent, TaskError, Unauthorized
from thresher.reading.apis.definition import OAuth
from thresher.reading.apis.oauth import (
    BAD_CLIENT,
    BAD_SCOPE,
    NoToken,
    client_of,
    read_token,
    refusal,
    token_call,
)

MARGIN = MINUTE  # a token is not used in its last minute, nor in its last tenth
CLOSED_FOR = 60 * MINUTE  # for so long nobody asks again for what was refused

_Key = tuple[str, str, str, str]  # the endpoint, the client, its secret, and the scope


class ScopeRefused(Exception):
    """The client is known, and may not have this scope."""


@dataclass(frozen=True, slots=True)
class _Held:
    value: str = field(repr=False)
    until: int


@dataclass(slots=True)
class _Drawer:
    """What is known of one client and scope: its token, and until when which lists were refused."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: _Held | None = None
    closed: dict[str, int] = field(default_factory=dict)


_DRAWERS: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, _Drawer]]" = WeakKeyDictionary()


async def token_of(ctx: Context, name: str, oauth: OAuth, env: Mapping[str, str], gate: str) -> str:
    """A token that holds. Raises ConfigError for a variable that is not set, Unauthorized for credentials
    that the endpoint refuses, ScopeRefused for a scope, and what `ctx.fetch` raises.
    """
    drawer = _drawer(name, oauth, env)
    if (known := _known(drawer, ctx.now())) is not None:
        return known
    async with drawer.lock:
        if (known := _known(drawer, ctx.now())) is None:  # else another task has fetched it meanwhile
            drawer.held = await _fetched(ctx, name, oauth, env, gate)
            known = drawer.held.value
        return known


def forget(name: str, oauth: OAuth, env: Mapping[str, str], token: str) -> None:
    """This token was refused: fetch another one when the next is needed."""
    drawer = _drawer(name, oauth, env)
    if drawer.held is not None and drawer.held.value == token:
        drawer.held = None


def close(name: str, oauth: OAuth, env: Mapping[str, str], list_name: str, now: int) -> None:
    """This list was refused: whoever can do without it does not ask for a while."""
    _drawer(name, oauth, env).closed[list_name] = now + CLOSED_FOR


def is_closed(name: str, oauth: OAuth, env: Mapping[str, str], list_name: str, now: int) -> bool:
    """Whether this list was refused a short while ago."""
    return now < _drawer(name, oauth, env).closed.get(list_name, 0)


def _drawer(name: str, oauth: OAuth, env: Mapping[str, str]) -> _Drawer:
    client, secret = client_of(name, oauth, env)
    drawers = _DRAWERS.setdefault(asyncio.get_running_loop(), {})
    return drawers.setdefault((oauth.url, client, secret, oauth.scope), _Drawer())


def _known(drawer: _Drawer, now: int) -> str | None:
    return drawer.held.value if drawer.held is not None and now < drawer.held.until else None


async def _fetched(ctx: Context, name: str, oauth: OAuth, env: Mapping[str, str], gate: str) -> _Held:
    call = token_call(name, oauth, env)
    asked_at = ctx.now()
    try:
        page = await ctx.fetch(
            call.url,
            method=call.method,
            headers=call.headers,
            body=call.body,
            credentials=call.credentials,
        )
    except (Unauthorized, Permanent) as problem:
        raise await _refused(ctx, name, oauth, problem, gate) from None
    if origin_of(page.final_url) != oauth.origin:
        raise Malformed(
            f"{name}: {oauth.origin} redirects to {origin_of(page.final_url) or 'nowhere'} for a token"
        )
    found = await ctx.compute(read_token, page.body)
    if isinstance(found, NoToken):
        raise Malformed(f"{name}: {oauth.origin} gave no token ({hidden(call.credentials, found.reason)})")
    life = found.seconds * SECOND
    return _Held(found.value, asked_at + life - min(MARGIN, life // 10))


async def _refused(ctx: Context, name: str, oauth: OAuth, problem: TaskError, gate: str) -> Exception:
    """What a refusal of the token endpoint means."""
    if problem.status not in (400, 401, 403):
        return problem
    said = await ctx.compute(refusal, problem.answer)
    if said.code == BAD_SCOPE:
        return ScopeRefused(f"the scope {oauth.scope} is refused")
    if problem.status == 400 and said.code not in BAD_CLIENT:
        return problem
    why = f" ({said.reason})" if said.code else ""
    return blamed(
        f"{name}: {oauth.origin} refuses these credentials{why}; check the environment variables "
        f"{oauth.client_id} and {oauth.client_secret}, then enable the source",
        gate,
        ctx,
    )


def blamed(message: str, gate: str, ctx: Context) -> Unauthorized:
    """An error that disables this source, and not the host of everybody."""
    problem = Unauthorized(message, gate=gate)
    problem.near = gate in ctx.task.lane
    return problem


def hidden(credentials: Credentials | None, text: str) -> str:
    return credentials.hidden_in(text) if credentials is not None else text
