"""The request of a discovery, from its task and what is known of the company."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thresher.core.context import Context
from thresher.core.errors import InvalidPayload, InvalidUrl
from thresher.core.keys import canonical_url
from thresher.hiring.kinds import COMPANY
from thresher.hiring.ownership import WantedCompany
from thresher.hiring.records import CompanyRecord, company_key
from thresher.reading.platforms.platform import platform_named, platforms

AUTO, RSS, HTML = "auto", "rss", "html"
MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """`page` is the company's page on which somebody saw `url`; `hint` is what somebody thinks it is."""

    url: str | None = None
    company: str | None = None
    name: str | None = None
    website: str | None = None
    careers_url: str | None = None
    page: str | None = None
    hint: str = AUTO
    auto_enable: bool = True
    validation_required: bool = False
    via: str = "user"
    tier: str | None = None

    def wanted(self, page: str | None) -> WantedCompany:
        """Whose board it should be. Whoever gave the address of a page meant the company of that page."""
        return WantedCompany(self.name, self.website or (self.url if page else None))


async def asked_of(ctx: Context) -> Asked:
    """The request of a task. Raises `InvalidPayload` for one that names nothing to look for."""
    said = ctx.task.payload
    name, website = _text(said, "name"), _address(said, "website")
    key = _text(said, "company") or ((name or website) and company_key(name, website)) or None
    known = await ctx.record(COMPANY, key) if key else None
    about = CompanyRecord.of(known) if known else CompanyRecord("")
    asked = Asked(
        url=_address(said, "url") or ctx.task.url,
        company=key,
        name=name or _line(about.name),
        website=website or _site(about.website, "website"),
        careers_url=_site(about.careers_url, "careers_url"),
        page=_address(said, "page"),
        hint=_hint(said),
        auto_enable=bool(said.get("auto_enable", True)),
        validation_required=bool(said.get("validation_required", False)),
        via=_text(said, "via") or "user",
        tier=_line(about.tier),
    )
    if not (asked.url or asked.name or asked.website):
        raise InvalidPayload("a discovery needs something to go by: url, company, name or website")
    return asked


def _hint(said: Mapping[str, Any]) -> str:
    hint = _text(said, "type_hint") or AUTO
    if hint not in (AUTO, RSS, HTML) and platform_named(hint) is None:
        known = ", ".join((AUTO, RSS, HTML, *sorted(platform.name for platform in platforms())))
        raise InvalidPayload(f"type_hint is {hint!r}; write one of {known}")
    return hint


def _text(said: Mapping[str, Any], key: str) -> str | None:
    return _line(said.get(key))


def _line(value: object) -> str | None:
    return " ".join(value.split())[:MAX_NAME] or None if isinstance(value, str) else None


def _address(said: Mapping[str, Any], key: str) -> str | None:
    return _site(said.get(key), key)


def _site(value: object, key: str) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        # People write acme.example for https://acme.example; what names another scheme is refused by name.
        return canonical_url(value if ":" in value.partition("/")[0] else f"https://{value.strip()}")
    except InvalidUrl as problem:
        raise InvalidPayload(f"{key}: {problem}") from None
