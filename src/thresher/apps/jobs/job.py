"""The `job` pipeline of one posting: scrape, filter, analyze, save; and the check of a known posting's page.

`scrape` completes the posting and reads its facts, `filter` applies the rules, `analyze` scores what is left,
`save` stores the match. Every ending is recorded with its reasons. An unknown company gets its own task; the
posting does not wait for it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, cast

from thresher.apps.jobs import decision
from thresher.apps.jobs.filtering.case import case_of
from thresher.apps.jobs.filtering.exclusion import site_of
from thresher.apps.jobs.filtering.filter import judge, stopped, weigh
from thresher.apps.jobs.filtering.rejection import Rejection, rules_of
from thresher.apps.jobs.model import MATCH, AskedModel
from thresher.apps.jobs.notify import announcement
from thresher.apps.jobs.person.profile import Profile
from thresher.apps.jobs.person.profile_record import my_profile
from thresher.apps.jobs.scoring.judgement import PROMPT, judgement_inputs, judgement_schema, kept
from thresher.apps.jobs.scoring.points import employer_of, points_of
from thresher.apps.jobs.scoring.score import Score, rate, with_judgement
from thresher.core.clock import day_of
from thresher.core.context import Context
from thresher.core.errors import BudgetExhausted, Gone, InvalidUrl, NotYet, Permanent, Transient, UsageError
from thresher.core.keys import host_gate
from thresher.core.outcome import Done, Failed, Filtered, Finds, Next, Outcome, Skipped
from thresher.core.page import Page, Verdict
from thresher.core.pipeline import Pipeline, Stage, Trip
from thresher.core.record import Found, Is, Link, Record
from thresher.core.settlement import Error
from thresher.core.stored import written
from thresher.core.task import NewTask, Task
from thresher.hiring.company.facts import Completeness
from thresher.hiring.facts import gaps_of, read_facts
from thresher.hiring.kinds import BOARD, COMPANY, POSTING
from thresher.hiring.lifecycle import CLOSED, OPEN
from thresher.hiring.names import Likeness, label_of, liken, name_words
from thresher.hiring.opening import Opening, facts_of, opening_of, places_of
from thresher.hiring.records import (
    BoardRecord,
    CompanyRecord,
    PostingFields,
    PostingRecord,
    company_key,
    company_name_key,
    posting_entry,
    posting_key,
)
from thresher.hiring.row import fields
from thresher.hiring.same_opening import find_group, page_of
from thresher.reading.html.document import Document
from thresher.reading.html.labels import headline_of
from thresher.reading.inspect.body import Format, read_body
from thresher.reading.inspect.inspection import Inspection, inspect
from thresher.reading.inspect.report import PageKind
from thresher.reading.platforms.boards import recognise
from thresher.reading.platforms.calls import Call, detail_call
from thresher.reading.postings.openings import should_list
from thresher.reading.postings.posting import UNDER_HEADLINE, Posting
from thresher.reading.structured.facts import structured
from thresher.reading.structured.schema_org import employer_sites
from thresher.reading.text.content import text_under
from thresher.reading.text.vocabulary import plain
from thresher.reading.values.addresses import read_address

# Complete a posting: what its list says, with the rest from its own page or from the board's API.

# The site of the employer that a posting links to.

MAX_ADDRESSES = 20  # addresses that are looked at
MIN_INITIALS = 3
_ALIKE = (Likeness.SAME, Likeness.KIN, Likeness.BRANCH)


def website_of(name: str | None, urls: Iterable[str]) -> str | None:
    """The home page of the company of this name, if one of these addresses is on its site."""
    return next((site for url in list(urls)[:MAX_ADDRESSES] if (site := _site(name or "", url))), None)


def _site(name: str, url: str) -> str | None:
    try:
        address = read_address(url)
    except InvalidUrl:
        return None
    if address.canonical is None or address.username or recognise(address.href):
        return None
    label = label_of(address.hostname)
    return (
        f"{address.origin}/" if liken(name, label).likeness in _ALIKE or _are_initials(label, name) else None
    )


def _are_initials(label: str, name: str) -> bool:
    initials = "".join(word[0] for word in name_words(name))
    return len(initials) >= MIN_INITIALS and label == initials


AGE = 3_600.0  # seconds: a stage that is performed again takes the page it already had
MAX_HEADINGS = 50
MAX_OVER = 600  # characters under a headline: further below it may be about something else
_OVER = re.compile(
    r"(?i)(?P<unless>\b(?:until|till|when|once|after|before|if|unless)\b[^.!?]{0,40})?"
    r"\b(?:job|position|role|posting|opening|vacancy|opportunity)\b[^.!?]{0,40}\b(?:(?:has|have) (?:already )?been (?:filled|closed|removed)"
    r"|(?:is|are) no longer (?:available|open|active|accepting)|no longer (?:exists|accept\w*)|(?:has|have) (?:expired|closed)"
    r"|(?:is|are) (?:now )?(?:closed|filled|expired))\b"
)
# What the list says comes from the board itself, so its page only adds to it. The description is the page's.
_PAGE_KNOWS_BETTER = ("description",)


def call_for(posting: PostingRecord, board: BoardRecord | None) -> Call | None:
    """How to ask for the rest of a posting: the board's own way, else its page."""
    known = Posting(posting.title or "", url=posting.url, key=posting.number)
    way = detail_call(board.address, known) if board else None
    return way or (Call(posting.url) if posting.url else None)


async def fetch_detail(ctx: Context, call: Call, max_age: float = AGE) -> Page:
    """What the board answers. A page that only a script builds is built."""
    render = None if call.method == "GET" else False
    return await ctx.fetch(
        call.url, method=call.method, headers=call.headers, body=call.body, render=render, max_age=max_age
    )


@dataclass(frozen=True, slots=True)
class Unread:
    """Why nothing of a posting could be read from its page."""

    reason: str


def read_detail(page: Page, title: str, today: date) -> Posting | Unread:
    """The one posting that a page is about. Of a page that declares nothing, its headline and the text under
    it.
    """
    seen = inspect(page, today)
    found = seen.postings
    posting = next((each for each in found if each.title.casefold() == title.casefold()), None)
    posting = found[0] if len(found) == 1 else posting
    body = read_body(page)
    if body.format is not Format.HTML or seen.kind in (PageKind.WALL, PageKind.SHELL):
        return posting or Unread(f"{page.final_url}: {seen.look.reason}")
    if posting is None or (title and posting.where == UNDER_HEADLINE and not _is_alike(posting.title, title)):
        headline = _headline(body.document, title, seen)
        if isinstance(headline, Unread):
            return headline
        posting = Posting(headline, url=page.final_url)
    if not posting.description:
        text = text_under(body.document, posting.title)
        posting = replace(posting, description=text or None, where=UNDER_HEADLINE)
    if posting.where == UNDER_HEADLINE and (over := _over(posting.description or "")):
        return Unread(f"{page.final_url} says {over!r}")
    return replace(posting, company=posting.company or _site_name(page, seen))


def _over(text: str) -> str | None:
    """Where a text begins by saying that the opening is filled; not "until the position is filled"."""
    said = (each for each in _OVER.finditer(text[:MAX_OVER]) if not each["unless"])
    return next((" ".join(each[0].split()) for each in said), None)


def _headline(document: Document, title: str, seen: Inspection) -> str | Unread:
    """The headline of a page that is about one thing, and about this title if one is known."""
    url, first = document.url, headline_of(document)
    if title:
        lines = [node.line for node in document.root.css("h1, h2, h3")[:MAX_HEADINGS]]
        if named := next((line for line in (*lines, document.title) if _is_alike(line, title)), None):
            return named if named in lines else title
    if len(seen.postings) > 1:
        return Unread(f"{url} lists {len(seen.postings)} postings, and this is none of them")
    if title:
        return Unread(f"{url} does not name {title!r}")
    if seen.look.verdict is Verdict.CONFIRMED_EMPTY or should_list(document):
        return Unread(f"{url} is a list of postings; to follow it: thresher add board {url}")
    return first.line if first is not None else Unread(f"{url} has no headline")


def _is_alike(line: str, title: str) -> bool:
    """Whether a line has most words of a title."""
    wanted = set(plain(title).split())
    return len(wanted & set(plain(line).split())) * 3 >= len(wanted) * 2 > 0


def _site_name(page: Page, seen: Inspection) -> str | None:
    """What the page calls its site, if the site is called so: then it is the company's own."""
    name = seen.company.name
    return name if website_of(name, (page.final_url,)) else None


def employer_site(page: Page, name: str | None) -> str | None:
    """The site of the company that hires, by the page's own word for it."""
    body = read_body(page)
    if body.format is not Format.HTML:
        return None
    declared = structured(body.document).of("JobPosting")
    return website_of(name, (url for each in declared for url in employer_sites(each.properties)))


def completed(known: PostingRecord, detail: Posting) -> PostingFields:
    """What the page adds to the list."""
    said = fields(detail)
    if detail.company and not known.company_name:
        said["company_name"] = detail.company
    said.pop("number", None)
    if detail.where == UNDER_HEADLINE and len(detail.description or "") < len(known.description or ""):
        said.pop("description", None)  # what nobody declared never replaces more
    added = {
        name: value for name, value in said.items() if not getattr(known, name) or name in _PAGE_KNOWS_BETTER
    }
    return cast("PostingFields", added)


def changes_of(known: PostingRecord, said: PostingFields) -> PostingFields:
    """What of this is not as it was."""
    return cast(
        "PostingFields", {name: value for name, value in said.items() if value != getattr(known, name)}
    )


# A check fetches the page of a known posting, because its list does not say whether it is still open and
# unchanged.


@dataclass(frozen=True, slots=True)
class News:
    """What the page of a known posting says that is different."""

    fields: PostingFields


async def check(ctx: Context, posting: PostingRecord) -> Outcome | News:
    """How the check ends; or, where the page says something else than before, what has to be written and
    judged.
    """
    is_listed = bool(ctx.task.payload.get("listed"))
    if posting.state == CLOSED:
        return Skipped("it is closed already")
    if is_listed and _list_says_it(ctx, posting):
        return Skipped("its list has everything")
    call = await _call(ctx, posting)
    if call is None:
        return Skipped("it has no page to request")
    try:
        page = await fetch_detail(ctx, call, max_age=0.0)  # only what the page says now counts
    except Gone as problem:
        return (
            Skipped(f"its list shows it, though its page is gone: {problem}")
            if is_listed
            else _missed(ctx, posting, problem)
        )
    except Permanent as problem:  # it is known, so that it cannot be asked for is no failure
        return Skipped(f"unknown: {problem}")
    found = await ctx.compute(read_detail, page, posting.title or "", day_of(ctx.now()))
    if isinstance(found, Unread) or not _is_its_page(page, call, found, posting):
        return Skipped(f"unknown: {page.final_url} shows something else, which proves nothing")
    return _seen(ctx, posting, found, is_listed)


async def _call(ctx: Context, posting: PostingRecord) -> Call | None:
    """How to ask for the page of a posting."""
    board = await ctx.record(BOARD, posting.board) if posting.board else None
    return call_for(posting, BoardRecord.of(board) if board else None)


def _missed(ctx: Context, posting: PostingRecord, problem: Gone) -> Outcome:
    count = posting.missed + 1
    if count < ctx.setting("jobs.close_looks") + bool(ctx.task.payload.get("doubted")):
        reason = f"its page is gone; another check must confirm it: {problem}"
        return Done(reason, records=(posting_entry(posting.key, {"missed": count}),))
    return Done(
        f"closed: {problem}",
        records=(posting_entry(posting.key, {"state": CLOSED, "closed_at": ctx.now()}),),
    )


def _seen(ctx: Context, posting: PostingRecord, found: Posting, is_listed: bool) -> Outcome | News:
    """It is there. Of a text that its list says, the list knows best."""
    added = changes_of(posting, completed(posting, found))
    if _list_says_it(ctx, posting):
        added.pop("description", None)
    seen: PostingFields = {"seen_at": ctx.now()}
    if posting.missed and not is_listed:
        seen["missed"] = 0
    if added:
        return News({**added, **seen, "revision": posting.revision + 1})
    return Done("it is still there, unchanged", records=(posting_entry(posting.key, seen),))


def _list_says_it(ctx: Context, posting: PostingRecord) -> bool:
    return "description" in posting.said and _says_enough(ctx, posting.description)


def _is_its_page(page: Page, call: Call, found: Posting, posting: PostingRecord) -> bool:
    """Sites lead from what is gone to what is left: another address with another title is another posting."""
    return _stayed(page, call) or found.title.casefold() == (posting.title or "").casefold()


def _stayed(page: Page, call: Call) -> bool:
    return bool(page_of(call.url)) and page_of(page.final_url) == page_of(call.url)


KIND = "job"
NO_PROFILE = "it is stored; there is no profile to match it with (thresher jobs profile set FILE)"


def through_its_host(trip: Trip) -> tuple[str, ...]:
    """Only a posting that has to be fetched waits in line for its host; most lists say everything."""
    url = trip.payload.get("fetch")
    return (host_gate(url),) if isinstance(url, str) else ()


async def scrape(ctx: Context) -> Outcome:
    """Complete the posting, read its facts, and see whether it is known already."""
    known = await _known(ctx)
    posting = PostingRecord.of(known)
    profile = await my_profile(ctx)
    stop = profile and await _stop(ctx, profile, posting)
    if profile and stop:
        threshold = rules_of(ctx.setting).threshold
        decided = decision.stopped(posting.key, stop, profile, ctx.now(), threshold)
        before = await _match_before(ctx, posting.key, stop.reason, again=posting.read_at > 0)
        return Filtered(stop.reason, records=(decided, *before))
    if ctx.task.payload.get("check"):
        news = await check(ctx, posting)
        return await _read(ctx, known, posting, news.fields) if isinstance(news, News) else news
    try:
        added = await _detail(ctx, posting)
    except Gone as problem:
        reason = f"its page is gone: {problem}"
        return Skipped(reason, records=_unread(posting.key, posting.url, reason, ctx.now()))
    if isinstance(added, Unread) and not posting.title:
        reason = f"unknown: {added.reason}"
        return Failed(reason, records=_unread(posting.key, posting.url, reason, ctx.now()))
    return await _read(ctx, known, posting, added)


async def _stop(ctx: Context, profile: Profile, posting: PostingRecord) -> Rejection | None:
    """Why the posting is not read: by what it says itself, or by the name and the site of its company."""
    own = stopped(profile, title=posting.title, company=posting.company_name, url=posting.url)
    if own or not posting.company:
        return own or stopped(profile, url=posting.company_site)
    found = await ctx.record(COMPANY, posting.company)
    company = CompanyRecord.of(found) if found else CompanyRecord(posting.company)
    website = company.website or posting.company_site or site_of(posting.company)
    return stopped(profile, company=company.name, url=website)


async def _known(ctx: Context) -> Found:
    """The posting that is meant, or the beginning of one: a person may name an address that nobody has
    seen.
    """
    key = _key_of(ctx.task)
    if not key:
        raise UsageError('a job task needs a posting or a URL: {"posting": "..."} or a url')
    return await ctx.record(POSTING, key) or Found(POSTING, key, _begun(ctx.task.url, ctx.now()))


def _key_of(task: Task) -> str | None:
    return task.payload.get("posting") or (task.url and posting_key("", None, task.url))


def _begun(url: str | None, now: int) -> PostingFields:
    return {"url": url, "state": OPEN, "first_seen": now}


def on_failed(task: Task, error: Error, settings: Mapping[str, Any]) -> Finds:
    """A posting that could not be read says so, unless it was judged before: then it keeps its decision."""
    del settings
    key = _key_of(task)
    if not key or task.payload.get("check"):  # a posting that is only checked was read before
        return Finds()
    url = task.url or task.payload.get("url")
    return Finds(
        records=_unread(key, url if isinstance(url, str) else None, f"{error.name}: {error.message}")
    )


def _unread(key: str, url: str | None, reason: str, now: int = 0) -> tuple[Record, ...]:
    first: PostingFields = {**_begun(url, now), "completeness": str(Completeness.NONE)}
    return posting_entry(key, {}, initial=first), decision.unread(key, reason, now)


async def _detail(ctx: Context, posting: PostingRecord) -> PostingFields | Unread:
    """What the posting's own page adds; nothing where its list said enough."""
    if _says_enough(ctx, posting.description) and not ctx.task.payload.get("fresh"):
        return {} if posting.method else {"method": "list"}
    call = await _call(ctx, posting)
    if call is None:
        return Unread("it has no page to request")
    page = await fetch_detail(ctx, call)
    detail = await ctx.compute(read_detail, page, posting.title or "", day_of(ctx.now()))
    if isinstance(detail, Unread):
        return detail
    if posting.title and not (_stayed(page, call) or _is_alike(detail.title, posting.title)):
        return Unread(f"{call.url} leads to {page.final_url}, which is about {detail.title!r}")
    added = completed(posting, detail)
    added["method"] = _method(call, posting, detail)
    whole = posting.having(added)
    if not await _employer(ctx, whole):  # only of somebody whom nobody knows it is worth reading
        site = await ctx.compute(employer_site, page, whole.company_name)
        if site:
            added["company_site"] = site
    return added


def _method(call: Call, posting: PostingRecord, detail: Posting) -> str:
    """How the text of a posting was read, beside "list": where its list said enough."""
    if detail.where == UNDER_HEADLINE:
        return "text"
    return "page" if call.url == posting.url else "api"


def _says_enough(ctx: Context, text: str | None) -> bool:
    return len(text or "") > int(ctx.setting("jobs.posting.description"))


async def _read(ctx: Context, known: Found, before: PostingRecord, added: PostingFields | Unread) -> Outcome:
    """Read the facts of the posting, and put it beside those that are known. One that says too little to be
    judged is unknown.
    """
    fields = PostingFields() if isinstance(added, Unread) else added
    posting = await _with_company(ctx, before.having(fields))
    opening = read_facts(posting, today=day_of(ctx.now()))
    company, children = await _company(ctx, posting)
    kin = await find_group(ctx, known, posting)
    gaps = gaps_of(posting, opening, int(ctx.setting("jobs.posting.description")))
    facts: PostingFields = {
        **fields,
        "facts": facts_of(opening),
        "completeness": str(gaps.completeness),
        "lacks": gaps.names,
        "print": kin.print,
        "kin": kin.kin,
        "read_at": ctx.now(),
    }
    if posting.company_name:
        facts["company_name"] = posting.company_name
    if not posting.first_seen:
        facts["first_seen"] = ctx.now()
    if company:
        facts["company"] = company
    if kin.links:
        facts["group"] = kin.links[0].target
    links = (*kin.links, *((Link("company", company),) if company else ()))
    record = posting_entry(
        known.key, facts, *links, evidence=places_of(opening), initial=_begun(posting.url, ctx.now())
    )
    records = (record, *kin.records)
    if kin.lead is not None:
        return Skipped(f"the same opening as {kin.lead}: {kin.reason}", records=records, children=children)
    if gaps.minimal:
        reason = "; ".join((*gaps.minimal.values(), *([added.reason] if isinstance(added, Unread) else ())))
        unknown = decision.unknown(known.key, reason, tuple(gaps.minimal), ctx.now())
        was = await _match_before(ctx, known.key, reason, again=before.read_at > 0)
        return Skipped(f"unknown: {reason}", records=(*records, unknown, *was), children=children)
    return Next({"company": company, "again": before.read_at > 0}, records=records, children=children)


async def _match_before(ctx: Context, key: str, reason: str, *, again: bool) -> tuple[Record, ...]:
    """Withdraw the match of a posting that is judged again, and is none now."""
    known = again and await ctx.record(MATCH, key)
    return (decision.withdrawn(key, reason),) if known else ()


async def _with_company(ctx: Context, posting: PostingRecord) -> PostingRecord:
    """The posting with the name of its company, where only its key or the domain of its page is known."""
    if posting.company_name:
        return posting
    for key in (posting.company, posting.url and company_key(None, posting.url)):
        known = await ctx.record(COMPANY, key) if key else None
        if known and (name := CompanyRecord.of(known).name):
            return posting.having({"company": known.key, "company_name": name})
    return posting


async def _company(ctx: Context, posting: PostingRecord) -> tuple[str | None, tuple[NewTask, ...]]:
    """Return the hiring company, by key or name; if it is unknown, a task that will find it."""
    key, name = posting.company, posting.company_name or ""
    known = await _employer(ctx, posting)
    if known or not company_name_key(name):
        return known or key, ()
    said = {"website": posting.company_site} if posting.company_site else {}
    # Detached: what is found out about a company is no part of the round that met its posting.
    return key, (
        NewTask(
            "company", {"name": name, "via": "posting", **said}, key=company_name_key(name), detached=True
        ),
    )


async def _employer(ctx: Context, posting: PostingRecord) -> str | None:
    """The key of the company that hires, where it is known."""
    key, name = posting.company, company_name_key(posting.company_name or "")
    if key and await ctx.record(COMPANY, key):
        return key
    found = await ctx.records(COMPANY, where=(Is("name_key", name),), limit=1) if name else []
    return found[0].key if found else None


async def filter_(ctx: Context) -> Outcome:
    """Reject by rules, with the rule and the quote. Without a profile there is nothing to reject by."""
    profile, opening = await my_profile(ctx), await _opening(ctx)
    if profile is None:
        return Done(NO_PROFILE)
    judgement = judge(opening, profile, rules_of(ctx.setting), day_of(ctx.now()))
    if not judgement.passed:
        decided = decision.filtered(opening.key, judgement, profile, ctx.now())
        again = bool(ctx.task.checkpoint.get("again"))
        before = await _match_before(ctx, opening.key, judgement.summary, again=again)
        return Filtered(judgement.summary, records=(decided, *before))
    return Next(ctx.task.checkpoint)


async def analyze(ctx: Context) -> Outcome:
    """Score what passed; ask a model for its opinion where one can be asked and it could change something."""
    profile, opening = await my_profile(ctx), await _opening(ctx)
    if profile is None:
        return Done(NO_PROFILE)
    company = ctx.task.checkpoint.get("company")
    employer = await ctx.record(COMPANY, company) if company else None
    rules, points, case = (
        rules_of(ctx.setting),
        points_of(ctx.setting),
        case_of(opening, profile, day_of(ctx.now())),
    )
    found = rate(case, employer_of(CompanyRecord.of(employer) if employer else None), rules, points)
    answer = await _opinion(ctx, opening, profile, found)
    if answer:
        found = with_judgement(found, answer.answer, points)
    decided = decision.scored(opening.key, weigh(case, rules), found, profile, ctx.now(), answer)
    if not found.passed:
        reason = f"scores {found.total}, {found.needed} are needed"
        again = bool(ctx.task.checkpoint.get("again"))
        return Skipped(reason, records=(decided, *await _match_before(ctx, opening.key, reason, again=again)))
    return Next(
        {
            "match": written(
                decision.match_fields(opening, found, ctx.now(), answer.answer if answer else None)
            )
        },
        records=(decided,),
    )


async def save(ctx: Context) -> Outcome:
    """Make a match of it, and see to it that the person hears of it."""
    found = ctx.task.checkpoint["match"]
    match = decision.match(found["posting"], found)
    news = announcement(match.key, ctx.setting("jobs.notify.delay"))
    return Done(f"a match of {found['score']}", records=(match,), children=(news,))


async def _opening(ctx: Context) -> Opening:
    """The facts that the first stage read."""
    return read_opening(await _known(ctx))


def read_opening(known: Found) -> Opening:
    """The opening of a posting whose facts were read, as it is judged."""
    posting = PostingRecord.of(known)
    found = day_of(posting.first_seen) if posting.first_look else None
    return replace(opening_of(posting, known.evidence), found=found)


async def _opinion(ctx: Context, opening: Opening, profile: Profile, found: Score) -> AskedModel | None:
    """What a model makes of it: only where its opinion could still make a match, and never at the price of
    waiting.
    """
    reach = found.total + ctx.setting("jobs.score.judgement")
    if not ctx.setting("jobs.judge") or reach < found.needed or not await ctx.can_ask("strong"):
        return None
    try:
        answer = await ctx.ask(
            PROMPT, judgement_schema(), judgement_inputs(opening, profile, found), tier="strong"
        )
    except (BudgetExhausted, NotYet, Permanent):
        return None
    except Transient:
        if not ctx.task.failures:  # once more, later; then its opinion is not worth waiting for
            raise
        return None
    return AskedModel(answer.model, kept(answer.value))


job = Pipeline(
    KIND,
    Stage(scrape, through=through_its_host),
    Stage(filter_, name="filter"),
    Stage(analyze),
    Stage(save),
    failed=on_failed,
)
