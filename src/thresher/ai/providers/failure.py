"""Translate the exceptions of vendors' libraries into our errors, in one table.

A vendor's message is quoted short and without the key. Where the key itself was refused it is not quoted at
all, because some vendors repeat it.
"""

import re
from collections.abc import Iterator
from typing import Any

from pydantic_ai import exceptions as raised

from thresher.ai.provider import CallFailed
from thresher.ai.providers.wire import UnreadableReply
from thresher.config.models import Thinker
from thresher.core.errors import (
    BudgetExhausted,
    ConnectionFailed,
    Permanent,
    RateLimited,
    ServerError,
    TaskError,
    TimedOut,
    TooLarge,
    Unauthorized,
)

# Quota returns with the day or with a payment; asking every hour costs nothing.
QUOTA_SECONDS = 3_600.0
RATE_SECONDS = 60.0
MAX_SECONDS = 86_400.0
MAX_WORDS = 300
# A gateway timed out: the model behind it may have finished, so the call may have been charged.
GATEWAY_TIMEOUTS = (504, 524)
NOT_SENT = ("connect", "pool")

_SECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")
_KEYLIKE = re.compile(r"\b(?:sk-|AIza)[-_A-Za-z0-9*]{8,}")


def failed(error: Exception, thinker: Thinker, model: str) -> CallFailed:
    """The failure of one call."""
    problem, billed = _judged(error, _Voice(thinker, model))
    problem.gate, problem.near = thinker.gate, False
    return CallFailed(problem, billed=billed)


class _Voice:
    """Says who failed, and quotes what may be quoted."""

    def __init__(self, thinker: Thinker, model: str) -> None:
        self._thinker, self.model = thinker, model
        self.key_at = thinker.key_name or f"models.providers.{thinker.name}.key"
        self.name = thinker.name

    def says(self, what: str, words: Any = None) -> str:
        quoted = self._quoted(words)
        return f"{self.name}, asked for {self.model}, {what}" + (f": {quoted}" if quoted else "")

    def _quoted(self, words: Any) -> str:
        text = _message(words)[: MAX_WORDS * 4]
        if self._thinker.key:
            text = text.replace(self._thinker.key, "***")
        text = " ".join(_KEYLIKE.sub("***", text).split())
        return text if len(text) <= MAX_WORDS else f"{text[: MAX_WORDS - 1]}…"


def _judged(error: Exception, voice: _Voice) -> tuple[TaskError, bool]:
    """The first line that fits; the special ones stand before the general ones."""
    if unreadable := next((each for each in _chain(error) if isinstance(each, UnreadableReply)), None):
        return ServerError(voice.says("gave an answer that cannot be read", str(unreadable))), True
    match error:
        case raised.ModelConnectionError():
            return _unconnected(error, voice), error.phase not in NOT_SENT
        case TimeoutError() | raised.ModelRequestTimeout():
            return TimedOut(voice.says("did not answer in time; ai.timeout says how long it may take")), True
        case raised.ModelAPIError():
            status = getattr(error, "status_code", None)
            return _answered(
                error, status, voice
            ), error.in_stream or status is None or status in GATEWAY_TIMEOUTS
        case raised.UserError():
            return Permanent(voice.says("cannot be called this way", str(error))), False
        case _:
            return ServerError(
                voice.says(f"gave an answer that cannot be understood ({type(error).__name__})")
            ), True


def _unconnected(error: raised.ModelConnectionError, voice: _Voice) -> TaskError:
    if isinstance(error, raised.ModelTimeoutError):
        return TimedOut(
            voice.says(
                "could not be reached in time" if error.phase in NOT_SENT else "did not answer in time"
            )
        )
    return ConnectionFailed(
        voice.says(
            "could not be reached"
            if error.phase in NOT_SENT
            else "closed the connection before its answer was complete"
        )
    )


def _answered(error: raised.ModelAPIError, status: int | None, voice: _Voice) -> TaskError:
    words = error.body or error.message
    match error:
        case raised.ModelQuotaExceededError():
            return _spent(voice, words)
        case raised.ModelRateLimitError() if _daily(error.body):
            return _spent(voice, words)
        case raised.ModelRateLimitError():
            return RateLimited(voice.says("asks us to wait", words), retry_after=_wait(error) or RATE_SECONDS)
        case raised.ModelAuthenticationError():
            return Unauthorized(
                voice.says(
                    f"rejects the key ({status}); check {voice.key_at} and what the key is allowed to do"
                )
            )
        case raised.ModelNotFoundError():
            return Permanent(
                voice.says(
                    "does not know this model; check models.cheap, models.strong and base_url in "
                    "thresher.yaml",
                    words,
                )
            )
        case raised.ModelContextWindowExceededError():
            return TooLarge(voice.says("says the question is too long; lower ai.part_size", words))
        case raised.ModelServerError() | raised.ModelUnavailableError():
            wait = _wait(error)
            what = voice.says(f"has a server error ({status})", words)
            return ServerError(what) if wait is None else RateLimited(what, retry_after=wait)
    return _by_status(status, voice, words)


def _by_status(status: int | None, voice: _Voice, words: Any) -> TaskError:
    match status:
        case None:
            return ServerError(voice.says("gave an answer that cannot be understood", words))
        case 408:
            return TimedOut(voice.says("waited too long for our request"))
        case 413:
            return TooLarge(voice.says("says the question is too large; lower ai.part_size", words))
        case _ if status >= 500:
            return ServerError(voice.says(f"has a server error ({status})", words))
        case _:
            return Permanent(voice.says(f"rejects the question ({status})", words))


def _spent(voice: _Voice, words: Any) -> TaskError:
    return BudgetExhausted(
        voice.says("says that the quota or credit is used up; top it up, or wait", words),
        retry_after=QUOTA_SECONDS,
    )


def _wait(error: raised.ModelAPIError) -> float | None:
    """For how long to stay away: by header, or as Google says it, in the body."""
    said = error.retry_after
    for detail in _details(error.body):
        if said is None and (found := _SECONDS.fullmatch(str(detail.get("retryDelay", "")))):
            said = float(found[1])
    return None if said is None else min(max(said, 0.0), MAX_SECONDS)


def _daily(body: Any) -> bool:
    """Google says "exhausted" for a minute and for a day alike; which of the two stands in the name of the
    quota.
    """
    quotas = (each for detail in _details(body) for each in _listed(detail.get("violations")))
    return any("PerDay" in str(each.get("quotaId", "")) for each in quotas)


def _details(body: Any) -> Iterator[dict[str, Any]]:
    error = body.get("error") if isinstance(body, dict) else None
    return _listed(error.get("details") if isinstance(error, dict) else None)


def _listed(value: Any) -> Iterator[dict[str, Any]]:
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())


def _message(words: Any) -> str:
    """The sentence in an error's body, whichever vendor's shape it has. A page of HTML says nothing worth
    quoting.
    """
    if isinstance(words, dict):
        inner = words.get("error", words)
        return str(inner.get("message", "")) if isinstance(inner, dict) else str(inner)
    text = words if isinstance(words, str) else ""
    return "" if text.lstrip().startswith("<") else text


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it was raised from."""
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__
