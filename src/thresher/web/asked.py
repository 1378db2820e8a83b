"""Bodies of requests: what a client may send, read strictly. A field that nobody knows is refused, not ignored."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from thresher.web.route import MOST_TEXT

MOST_AT_ONCE = 1_000


def _whole(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text has no NUL in it")
    return text


Text = Annotated[str, StringConstraints(max_length=MOST_TEXT), AfterValidator(_whole)]


class Asked(BaseModel):
    """What every body has in common."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CompanyAsked(Asked):
    """A company by name, by site, or by both."""

    name: Text | None = None
    website: Text | None = None


class CompaniesAsked(CompanyAsked):
    """One company, or many: names, sites, or objects with both. `force` looks again at what is known and fresh."""

    companies: list[Text | CompanyAsked] | None = Field(None, min_length=1, max_length=MOST_AT_ONCE)
    force: bool = False


class BoardAsked(Asked):
    """An address to look at as a board, and whose it is, if that is known."""

    url: Text
    company: Text | None = None
    name: Text | None = None


class PostingAsked(Asked):
    """The address of a posting."""

    url: Text


class MatchChanged(Asked):
    """What a person has done about a match."""

    status: Text
    note: Text | None = None


class Reason(Asked):
    """Why something is changed; kept, and shown wherever it is."""

    reason: Text | None = None


class Pause(Reason):
    """How long a source is closed, as 90s, 10m, 2h or 1d, and why."""

    lasts: Text = Field(alias="for")


class Value(Asked):
    """A setting's new value; null goes back to the project's or the default."""

    value: int | float | None


def said(reason: Reason | None, otherwise: str) -> str:
    """The reason that was given, or the usual one."""
    return (reason.reason if reason and reason.reason else None) or otherwise


def given(body: Asked) -> dict[str, Any]:
    """The fields of a body that have a value."""
    return {name: value for name, value in body.model_dump().items() if value is not None}
