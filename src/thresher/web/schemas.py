"""Request bodies, parsed strictly: an unknown field is an error."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from starlette.requests import Request

from thresher.web.answer import JSON
from thresher.web.auth import SECURE_NAME
from thresher.web.route import MAX_TEXT

MAX_AT_ONCE = 1_000


def _whole(text: str) -> str:
    if "\0" in text:
        raise ValueError("a text has no NUL in it")
    return text


Text = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_whole)]


Many = Annotated[list[Text] | Text | None, Field(max_length=MAX_TEXT)]


class Body(BaseModel):
    """What every body has in common."""

    model_config = ConfigDict(extra="forbid", strict=True)


def like(**example: Any) -> ConfigDict:
    """A body tells programs what it looks like by one that would do."""
    return ConfigDict(json_schema_extra={"examples": [example]})


class CompanyAsked(Body):
    """A company by name, by site, or by both."""

    name: Text | None = None
    website: Text | None = None


class CompaniesAsked(CompanyAsked):
    """One company, or many: names, sites, or objects with both. `force` looks again at what is known and
    fresh.
    """

    companies: list[Text | CompanyAsked] | None = Field(None, min_length=1, max_length=MAX_AT_ONCE)
    force: bool = False


class BoardAsked(Body):
    """An address to look at as a board, and whose it is, if that is known."""

    url: Text
    company: Text | None = None
    name: Text | None = None


class PostingAsked(Body):
    """The address of a posting."""

    url: Text


class TaskAsked(Body):
    """A task of a kind that an app of the server knows. `key` is unique among live tasks of the kind; `delay`
    is in seconds.
    """

    model_config = like(kind="greet", payload={"name": "Ada"}, key="ada")

    kind: Text
    payload: dict[str, Any] = {}
    url: Text | None = None
    key: Text | None = None
    priority: int = 0
    delay: float = 0.0


class MatchChanged(Body):
    """What a person has done about a match."""

    status: Text
    note: Text | None = None


class CandidateAsked(Body):
    """A candidate. Lists are lists, or texts with ; between the entries; what is not said is not known."""

    model_config = like(
        name="Anna Berg",
        email="anna@example.com",
        title="Senior Python Developer",
        skills=["Python", "SQL"],
        experience_years=7,
        locations=["Berlin, Germany"],
        salary_min=70_000,
        currency="EUR",
        remote=True,
    )

    id: Text | None = None
    email: Text | None = None
    name: Text | None = None
    title: Text | None = None
    roles: Many = None
    skills: Many = None
    tech_stack: Many = None
    specializations: Many = None
    experience_years: int | float | None = None
    locations: Many = None
    salary_min: int | None = None
    currency: Text | None = None
    remote: bool | None = None


class CandidatesAsked(CandidateAsked):
    """One candidate, or many."""

    model_config = like(
        candidates=[{"name": "Anna Berg", "title": "Senior Python Developer", "skills": ["Python", "SQL"]}]
    )

    candidates: list[CandidateAsked] | None = Field(None, min_length=1, max_length=MAX_AT_ONCE)


class PairChanged(Body):
    """What a person makes of a candidate's match: suggested, viewed, applied, rejected or shortlisted."""

    model_config = like(status="applied", note="sent on Monday")

    status: Text
    note: Text | None = None


class RoleAsked(Body):
    """A role, its other names, and how urgent it is."""

    name: Text
    aliases: list[Text] = Field(default=[], max_length=MAX_AT_ONCE)
    priority: Text | None = None


class RolesAsked(Body):
    """One role, or many."""

    model_config = like(name="Python Developer", aliases=["Python Engineer"], priority="high")

    name: Text | None = None
    aliases: list[Text] = Field(default=[], max_length=MAX_AT_ONCE)
    priority: Text | None = None
    roles: list[RoleAsked] | None = Field(None, min_length=1, max_length=MAX_AT_ONCE)


class RoleChanged(Body):
    """What is to be otherwise about a role. A category of null takes the old one away."""

    model_config = like(name="Python Developer", priority="urgent", category="software")

    name: Text | None = None
    priority: Text | None = None
    category: Text | None = None


class Titles(Body):
    """Titles to be understood."""

    model_config = like(titles=["Sr. Python Dev (m/f/d)", "Java Developer"])

    titles: list[Text] = Field(min_length=1, max_length=MAX_AT_ONCE)


class Into(Body):
    """The role that another becomes part of: its id, its name or an alias."""

    model_config = like(into="Python Developer")

    into: int | Text


class SplitAsked(Body):
    """The name of the new role, and the names and candidates that go along."""

    model_config = like(name="Analytics Engineer", aliases=["dbt Developer"], candidates=["anna@example.com"])

    name: Text
    aliases: list[Text] = Field(default=[], max_length=MAX_AT_ONCE)
    candidates: list[Text] = Field(default=[], max_length=MAX_AT_ONCE)


class AliasAsked(Body):
    """One more name for a role."""

    model_config = like(alias="Python Ninja")

    alias: Text


class ReasonBody(Body):
    """Why something is changed; kept, and shown wherever it is."""

    reason: Text | None = None


class Pause(ReasonBody):
    """How long a source is closed, as 90s, 10m, 2h or 1d, and why."""

    lasts: Text = Field(alias="for")


class Value(Body):
    """A setting's new value; null goes back to the project's or the default."""

    value: int | float | None


def said(reason: ReasonBody | None, otherwise: str) -> str:
    """The reason that was given, or the usual one."""
    return (reason.reason if reason and reason.reason else None) or otherwise


def given(body: Body) -> dict[str, Any]:
    """The fields of a body that have a value."""
    return {name: value for name, value in body.model_dump().items() if value is not None}


# Response schemas for OpenAPI, derived from one example per route, so that the two never differ.

KEYS = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "scraper": {"type": "apiKey", "in": "header", "name": "X-Scraper-API-Key"},
    "login": {"type": "apiKey", "in": "cookie", "name": SECURE_NAME},
}
_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number", str: "string"}


def shape(example: Any, perhaps: Collection[str] = (), absent: Collection[str] = ()) -> dict[str, Any]:
    """The schema of everything that looks like an example. Members in `perhaps` may be null, those in
    `absent` may be missing.
    """
    if isinstance(example, Mapping):
        members = {
            name: _or_null(shape(value, perhaps, absent), name in perhaps) for name, value in example.items()
        }
        return {
            "type": "object",
            "properties": members,
            "required": [name for name in members if name not in absent],
        }
    if isinstance(example, list):
        return (
            {"type": "array", "items": shape(example[0], perhaps, absent)} if example else {"type": "array"}
        )
    if example is None:
        return {}
    return {"type": _TYPES[type(example)]}


def _or_null(schema: dict[str, Any], nullable: bool) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]} if nullable and "type" in schema else schema


def answers(
    example: Any, says: str = "OK", perhaps: Collection[str] = (), absent: Collection[str] = ()
) -> dict[str, Any]:
    """One answer of a route for its description."""
    return {
        "description": says,
        "content": {JSON: {"schema": shape(example, perhaps, absent), "example": example}},
    }


def asks(example: Any, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The body of a request that the framework does not read, for its description."""
    return {
        "required": True,
        "content": {JSON: {"schema": dict(schema or shape(example)), "example": example}},
    }


def described(request: Request, below: str = "") -> dict[str, Any]:
    """The API that is served, for programs: all of it, or the routes below a path."""
    said = dict(request.app.openapi())
    said["components"] = {**said.get("components", {}), "securitySchemes": KEYS}
    said["paths"] = {path: each for path, each in said["paths"].items() if path.startswith(below)}
    return {**said, "security": [{name: []} for name in KEYS]}
