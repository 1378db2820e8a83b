"""What a form brings: fields of text, counted and read strictly before anybody looks at them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from thresher.core.errors import UsageError
from thresher.web.route import MAX_TEXT

KIND = "application/x-www-form-urlencoded"
MAX_BYTES = 65_536
MAX_FIELDS = 100


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form, each with all its values."""

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def all(self, name: str) -> tuple[str, ...]:
        return self.fields.get(name, ())

    def one(self, name: str) -> str:
        """Return the value of a field that may occur once; empty if it is missing."""
        given = self.all(name)
        if len(given) > 1:
            raise UsageError(
                f"the field {name} was sent {len(given)} times; send it once. Nothing was changed."
            )
        return given[0] if given else ""


async def read_form(request: Request, long_fields: frozenset[str] = frozenset()) -> Form:
    """Read the form of a request. Stop at 64 KiB; a field may have 4,000 characters, or all if it is long."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != KIND:
        raise UsageError("this page takes a form from a browser; programs use /api. Nothing was changed.")
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BYTES:
                raise HTTPException(
                    413,
                    f"a form may have at most {MAX_BYTES:,} bytes; nothing was changed",
                    {"Connection": "close"},
                )
    except ClientDisconnect:
        raise HTTPException(400, "the client disconnected before it had sent the whole form") from None
    return parse_form(bytes(body), long_fields)


def parse_form(body: bytes, long_fields: frozenset[str] = frozenset()) -> Form:
    """Parse a form as a browser encodes it."""
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict"
        )
    except ValueError:  # not ASCII, not UTF-8 inside, or too many fields
        raise UsageError(
            f"the form cannot be read: send at most {MAX_FIELDS} text fields in UTF-8. Nothing was changed."
        ) from None
    fields: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        if (len(value) > MAX_TEXT and name not in long_fields) or "\0" in value:
            raise UsageError(
                f"a field may have at most {MAX_TEXT:,} characters, without NUL. Nothing was changed."
            )
        fields[name] = (*fields.get(name, ()), value)
    return Form(fields)
