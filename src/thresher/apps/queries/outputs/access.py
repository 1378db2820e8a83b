"""Who we are to Google Sheets: the spreadsheet and the service account that the environment names, and its
token.

google-auth signs the request for a token (RFC 7523). The request itself goes out as all others do.
"""

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson

from thresher.core.errors import ConfigError
from thresher.core.extension import Check

SPREADSHEET = "GOOGLE_SHEETS_SPREADSHEET_ID"
KEY_FILE = "GOOGLE_APPLICATION_CREDENTIALS"
KEY_JSON = "GOOGLE_SERVICE_ACCOUNT_JSON"
EXTRA = "pip install 'thresher[sheets]'"
SCOPE = "https://www.googleapis.com/auth/spreadsheets"
TOKEN_URL = "https://oauth2.googleapis.com/token"  # noqa: S105  an address
LIFETIME = 3_600  # seconds of a token: the longest that Google grants
MAX_KEY_FILE = 100_000  # bytes

_ID = re.compile(r"[A-Za-z0-9_-]{10,200}")
_NEEDED = ("client_email", "private_key", "token_uri", "type")


@dataclass(frozen=True, slots=True)
class Access:
    """The spreadsheet, and the service account that may edit it."""

    spreadsheet: str
    account: Mapping[str, Any] = field(repr=False)

    @property
    def email(self) -> str:
        """Whom the spreadsheet has to be shared with."""
        return str(self.account["client_email"])


def missing_access(environ: Mapping[str, str] = os.environ) -> str | None:
    """What has to be set before the sheet is synced; None if all is there."""
    if not environ.get(SPREADSHEET):
        return f"set {SPREADSHEET} to the id of the spreadsheet"
    if not (environ.get(KEY_FILE) or environ.get(KEY_JSON)):
        return f"set {KEY_FILE} to the key file of a service account, or {KEY_JSON} to its content"
    return None


def read_access(environ: Mapping[str, str] = os.environ) -> Access | None:
    """The access that the environment names; None where it names none. Raises `ConfigError` for one that
    cannot be used. No message repeats a part of the key.
    """
    if missing_access(environ) is not None:
        return None
    spreadsheet = environ[SPREADSHEET].strip()
    if not _ID.fullmatch(spreadsheet):
        raise ConfigError(
            f"{SPREADSHEET} must be the id of a spreadsheet: the part of its address between /d/ and /edit"
        )
    name = KEY_JSON if environ.get(KEY_JSON) else KEY_FILE
    return Access(
        spreadsheet, _account(environ[KEY_JSON] if name == KEY_JSON else _file(environ[KEY_FILE]), name)
    )


def _file(path: str) -> str:
    try:
        with Path(path).expanduser().open("rb") as file:
            return file.read(MAX_KEY_FILE).decode("utf-8", "replace")
    except OSError as problem:
        raise ConfigError(f"{KEY_FILE} names {path}, which cannot be read: {problem.strerror}") from None


def _account(text: str, name: str) -> Mapping[str, Any]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(found.get(key), str) for key in _NEEDED):
        raise ConfigError(f"{name} must be the JSON key of a service account, with {', '.join(_NEEDED)}")
    if found["type"] != "service_account" or found["token_uri"] != TOKEN_URL:
        raise ConfigError(f"{name} must be a key of type service_account whose token_uri is {TOKEN_URL}")
    return found


def token_request(access: Access) -> bytes:
    """The body of the request for a token, signed. Raises `ConfigError` without the library, or for a key
    that is none.
    """
    try:
        from google.auth import crypt, jwt  # noqa: PLC0415  an extra, and slow to import
    except ImportError:
        raise ConfigError(f"Google Sheets needs a library: {EXTRA}") from None
    try:
        signer = crypt.RSASigner.from_service_account_info(access.account)  # type: ignore[no-untyped-call]
    except (ValueError, TypeError):
        raise ConfigError("the private_key of the service account is not an RSA key in PEM") from None
    now = int(time.time())
    claims = {"iss": access.email, "scope": SCOPE, "aud": TOKEN_URL, "iat": now, "exp": now + LIFETIME}
    signed = jwt.encode(signer, claims)  # type: ignore[no-untyped-call]
    return urlencode(
        {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": signed.decode()}
    ).encode()


def check_access(environ: Mapping[str, str] = os.environ) -> Check:
    """The line of `thresher doctor` about the sheet. Off is fine; half configured is not."""
    name = "sheet"
    missing = missing_access(environ)
    if missing is not None:
        is_begun = any(environ.get(each) for each in (SPREADSHEET, KEY_FILE, KEY_JSON))
        if is_begun:
            return Check.warn(name, "Google Sheets is off: it is only half configured", missing)
        return Check.ok(name, "Google Sheets is off", missing)
    try:
        access = read_access(environ)
        assert access is not None
        token_request(access)
    except ConfigError as problem:
        return Check.fail(name, f"Google Sheets cannot be used: {problem}")
    return Check.ok(name, f"Google Sheets is on; the spreadsheet must be shared with {access.email}")
