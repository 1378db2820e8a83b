"""A marketplace by its definition: ask its lists one page after the other, what was sold first, and read the
listings of the pages that came back.

A list that is closed to this client is left out, which every collection says: nothing found for want of
access is not nothing sold.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

import orjson

from thresher.apps.prices.adapters import tokens
from thresher.apps.prices.adapters.adapter import ListingPage, NotAsked, SourceQuery
from thresher.apps.prices.adapters.definition import TEXT, ListingApi, Marketplace, attributes_of
from thresher.apps.prices.adapters.rows import listing_of
from thresher.apps.prices.model import Item, Listing, PriceType, SourceSpec, gate_name
from thresher.core.context import Context
from thresher.core.credentials import Credentials
from thresher.core.errors import InvalidPayload, Unauthorized
from thresher.core.page import Page, Verdict
from thresher.reading.apis.answer import NotAsDescribed, following, list_place, read_list, refusal_said
from thresher.reading.apis.request import bare_call, check_given, check_parameters, credentials_of
from thresher.reading.platforms.calls import Call

MAX_NOTES = 5
EXPIRED = 401
CLOSED = 403


class _Closed(Exception):
    """A list is not open to this client, and may be left out."""


@dataclass(frozen=True, slots=True)
class MarketplaceAdapter:
    """One marketplace as one source asks it."""

    spec: SourceSpec
    market: Marketplace

    def query(self, item: Item) -> SourceQuery | NotAsked:
        words = self.market.words(item)
        if not words:
            return NotAsked(f"{self.market.title} has nothing to look for it by: too little is known of it")
        longest = max(len(each.between) for each in self.market.lists)
        text = _joined(words, self.market.left_out(item), self.market.max_text, longest)
        if text is None:
            return NotAsked(
                f"its query would be longer than the {self.market.max_text} characters that "
                f"{self.market.title} takes; say less of the item"
            )
        parameters = self._parameters()
        holes = frozenset(hole for each in self.market.lists for hole in each.request.holes)
        sent = {name: value for name, value in attributes_of(item).items() if name in holes}
        return SourceQuery(self.spec.name, text, {**sent, **parameters})

    async def fetch(self, ctx: Context, query: SourceQuery, cursor: str | None) -> Page:
        at, place = self._at(cursor)
        for number, api in enumerate(self.market.lists[at:], at):
            try:
                return await self._asked(ctx, api, query, place)
            except _Closed:
                at, place = number + 1, None
        raise AssertionError("the last list is never optional")

    async def read(self, ctx: Context, query: SourceQuery, cursor: str | None, page: Page) -> ListingPage:
        at, place = self._at(cursor)
        number = self._list_of(query, page, at)
        found = await ctx.compute(
            read_listings, self.market.lists[number], place if number == at else None, page
        )
        skipped = self.market.lists[at:number]
        notes = tuple(
            f"{self.market.title} does not open its list '{each.list_name}' to this client; it was left out"
            for each in skipped
        )
        after = self._next(number, found.next)
        unseen = tuple(each.list_name for each in self.market.lists[number + 1 :])
        return replace(found, next=after, notes=(*notes, *found.notes), unseen=unseen)

    # --- where it stands

    def _at(self, cursor: str | None) -> tuple[int, str | None]:
        """The list that a cursor names, and the place in it."""
        if cursor is None:
            return 0, None
        name, _, place = cursor.partition(" ")
        number = next((at for at, each in enumerate(self.market.lists) if each.list_name == name), None)
        if number is None:
            raise InvalidPayload("the cursor of a collection cannot be read; start it again")
        return number, place or None

    def _next(self, number: int, place: str | None) -> str | None:
        if place is not None:
            return f"{self.market.lists[number].list_name} {place}"
        if number + 1 < len(self.market.lists):
            return f"{self.market.lists[number + 1].list_name} "
        return None

    def _list_of(self, query: SourceQuery, page: Page, at: int) -> int:
        """Which list answered: the one that was to be asked, or one behind it, known by its address."""
        here = _path(page.url)
        for number, api in enumerate(self.market.lists[at + 1 :], at + 1):
            if here == _path(bare_call(api, list_place(api, None), self._parts(api, query)).url):
                return number
        return at

    # --- what is sent

    def _parameters(self) -> dict[str, str]:
        """The parameters of the source with the defaults. Raises ConfigError for one that is not known."""
        given = {str(name): str(value) for name, value in self.spec.options.items()}
        owner = f"the source {self.spec.name} ({self.market.name})"
        check_given(owner, self.market.parameters, given)
        defaults = {name: each.default for name, each in self.market.parameters.items() if each.default}
        return {**defaults, **{name: value for name, value in given.items() if value}}

    def _parts(self, api: ListingApi, query: SourceQuery) -> dict[str, str]:
        return {**query.parameters, TEXT: api.between.join(query.text.split())}

    async def _asked(self, ctx: Context, api: ListingApi, query: SourceQuery, place: str | None) -> Page:
        check_parameters(api, query.parameters)
        call = bare_call(api, list_place(api, place), self._parts(api, query))
        secrets = credentials_of(api, os.environ)
        if api.oauth is None:
            try:
                return await _sent(ctx, call, secrets)
            except Unauthorized as problem:
                raise await self._refused(ctx, api, problem, None) from None
        title, oauth = self.market.title, api.oauth
        if api.optional and tokens.is_closed(title, oauth, os.environ, api.list_name, ctx.now()):
            raise _Closed(f"{api.list_name} was refused a short while ago")
        token = await self._token(ctx, api)
        try:
            return await _sent(ctx, call, _bearing(api, secrets, token))
        except Unauthorized as problem:
            if problem.status != EXPIRED:
                raise await self._refused(ctx, api, problem, token) from None
        tokens.forget(self.market.title, api.oauth, os.environ, token)
        token = await self._token(ctx, api)
        try:
            return await _sent(ctx, call, _bearing(api, secrets, token))
        except Unauthorized as problem:
            raise await self._refused(ctx, api, problem, token) from None

    async def _token(self, ctx: Context, api: ListingApi) -> str:
        assert api.oauth is not None
        title = self.market.title
        try:
            return await tokens.token_of(ctx, title, api.oauth, os.environ, self._gate)
        except tokens.ScopeRefused as problem:
            if api.optional:
                tokens.close(title, api.oauth, os.environ, api.list_name, ctx.now())
                raise _Closed(str(problem)) from None
            raise tokens.blamed(
                f"{title}: {problem}; ask for access to it, then enable the source", self._gate, ctx
            ) from None

    async def _refused(
        self, ctx: Context, api: ListingApi, problem: Unauthorized, token: str | None
    ) -> Exception:
        """What it means that a list refuses us."""
        said = await ctx.compute(refusal_said, problem.answer)
        if token is not None:
            said = said.replace(token, "***")
        if api.optional and problem.status == CLOSED:
            if api.oauth is not None:
                tokens.close(self.market.title, api.oauth, os.environ, api.list_name, ctx.now())
            return _Closed(said)
        names = " and ".join(api.env)
        check = (
            f"check the environment variables {names}, then enable the source" if names else "it needs a key"
        )
        why = f" ({said})" if said else ""
        return tokens.blamed(
            f"{self.market.title} refuses the list '{api.list_name}' with {problem.status}{why}; {check}",
            self._gate,
            ctx,
        )

    @property
    def _gate(self) -> str:
        return f"source:{gate_name(self.spec.name)}"


def marketplace_adapter(spec: SourceSpec, market: Marketplace) -> MarketplaceAdapter:
    """The adapter of a source. Raises ConfigError for options that the marketplace does not have."""
    made = MarketplaceAdapter(spec, market)
    given = made._parameters()  # noqa: SLF001  the same module: what is wrong is said before anything is asked
    for each in market.lists:
        check_parameters(each, given)
    return made


def missing_variables(market: Marketplace, env: Mapping[str, str]) -> tuple[str, ...]:
    """The environment variables that a marketplace needs and that are not set."""
    return tuple(name for name in market.env if not env.get(name, "").strip())


def _path(url: str) -> str:
    return urlsplit(url).path


def _joined(words: tuple[str, ...], left_out: tuple[str, ...], limit: int, between: int) -> str | None:
    """The words on one line. Words to leave out are dropped where they do not fit: they are judged
    afterwards.
    """
    if sum(map(len, words)) + between * (len(words) - 1) > limit:
        return None
    line = list(words)
    for each in left_out:
        if sum(map(len, line)) + len(each) + between * len(line) <= limit:
            line.append(each)
    return " ".join(line)


async def _sent(ctx: Context, call: Call, credentials: Credentials | None) -> Page:
    """The answer. Neither the cache nor a copy keeps it: the app has a cache of its own, and an answer may
    repeat the request with all its secrets.
    """
    page = await ctx.fetch(
        call.url,
        method=call.method,
        headers={**call.headers, "cache-control": "no-store"},
        body=call.body,
        credentials=credentials,
    )
    return replace(page, body=_without(page.body, credentials))


def _without(body: bytes, credentials: Credentials | None) -> bytes:
    if credentials is None:
        return body
    for value in (*credentials.headers.values(), *credentials.query.values()):
        secret = value.rpartition(" ")[2]
        for spelled in {secret, orjson.dumps(secret).decode()[1:-1]}:
            if len(spelled) >= 6:
                body = body.replace(spelled.encode(), b"***")
    return body


def _bearing(api: ListingApi, secrets: Credentials | None, token: str) -> Credentials:
    headers = {**(secrets.headers if secrets else {}), "authorization": f"Bearer {token}"}
    return Credentials(api.request.origin, headers, secrets.query if secrets else {})


# Reading, in a process that can be killed.


def read_listings(api: ListingApi, cursor: str | None, page: Page) -> ListingPage:
    """One page of a list. Never raises for what the page holds."""
    try:
        answer = read_list(api, api.answers, page)
    except NotAsDescribed as problem:
        return ListingPage((), Verdict.UNKNOWN, f"{api.name}: {problem}")
    read = [listing_of(api, answer, row) for row in answer.rows]
    listings = tuple(each for each in read if isinstance(each, Listing))
    bad = [f"row {at + 1} is no listing: {each}" for at, each in enumerate(read) if isinstance(each, str)]
    notes = [f"{len(bad):,} of {len(read):,} rows were left out; {bad[0]}"] if bad else []
    if bad and not listings:
        return ListingPage((), Verdict.UNKNOWN, f"none of {len(read):,} rows is a listing; {bad[0]}")
    place = list_place(api, cursor)
    keys = [_key(each) for each in read]
    if place.pages and place.repeats(keys):
        listings = ()
    after = following(api, answer, place, keys)
    if after.trouble:
        return ListingPage(listings, Verdict.UNKNOWN, f"{api.name}: {after.trouble}", total=answer.total)
    if after.capped:
        notes.append(f"{api.list_name}: {after.capped}")
    kind = api.list_name
    if listings:
        verdict, reason = Verdict.FOUND, f"{kind}: {len(listings):,} listings"
    else:
        verdict, reason = Verdict.CONFIRMED_EMPTY, f"{kind}: the answer counts no results"
    return ListingPage(
        _each_once(listings),
        verdict,
        reason,
        after.next,
        answer.total,
        after.capped is not None,
        tuple(notes[:MAX_NOTES]),
    )


def _key(each: Listing | str) -> str:
    return each if isinstance(each, str) else each.external_id or each.url or f"{each.title}\n{each.amount}"


def _each_once(listings: tuple[Listing, ...]) -> tuple[Listing, ...]:
    """A row that stands twice in one answer is one listing."""
    found: dict[tuple[str, PriceType], Listing] = {}
    for each in listings:
        found.setdefault((_key(each), each.price_type), each)
    return tuple(found.values())
