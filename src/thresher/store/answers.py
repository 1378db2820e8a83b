"""Answers that were paid for, by their question: whoever asks the same again pays nothing."""

import json
from typing import Any

from thresher.core.answer import ModelAnswer, Usage
from thresher.core.errors import TooLarge
from thresher.core.evidence import as_json, of_json
from thresher.core.record import clean
from thresher.core.stored import made
from thresher.store.budgets import day_name
from thresher.store.session import one
from thresher.store.store import Store

MAX_ANSWER = 4 * 1024 * 1024

_FIND = "select body, model, cost, prompt from answers where question = :question"
_ASKED = "select provider || '/' || model from spendings where question = :question order by id desc limit 1"
_COUNT = """insert into reuses (day, app, run, model, prompt, number, saved) values (:day, :app, :run, :model, :prompt, 1, :cost)
    on conflict (day, app, run, model, prompt) do update set number = reuses.number + 1, saved = reuses.saved + excluded.saved"""
_USED = "update answers set hits = hits + 1, used_at = :now where question = :question"
# The first answer stands: whoever has read it has seen this one.
_KEEP = """insert into answers (question, body, model, prompt, cost, at, used_at)
    values (:question, :body, :model, :prompt, :cost, :at, :used_at) on conflict (question) do nothing"""
_FORGET = "delete from answers where "
_OF_PROMPT = f"{_FORGET} prompt = :prompt"
_OF_QUESTION = f"{_FORGET} question = :question"


def recall(store: Store, question: str, *, app: str = "", run: int | None = None) -> ModelAnswer | None:
    """The answer to this very question, if it was ever kept. Counted as used, by this app and this run (a
    tracking id).
    """
    asked = {"question": clean(question)}
    with store.read(autocommit=True) as session:
        row = one(session, _FIND, asked)
    if row is None:
        return None
    text, model, cost, prompt = row
    with store.write() as session:
        now, paid = store.backend.now(session), one(session, _ASKED, asked)
        session.run(_USED, asked | {"now": now})
        # By the name under which it was paid for: what a vendor calls itself in its answers is another.
        about = {
            "day": day_name(now),
            "app": clean(app),
            "run": run or 0,
            "model": paid[0] if paid else model,
            "prompt": prompt,
        }
        session.run(_COUNT, about | {"cost": cost})
    body = json.loads(text)
    return ModelAnswer(
        body["value"], of_json(body["evidence"]), made(Usage, body["usage"]), cost, model, cached=True
    )


def keep(store: Store, question: str, prompt: str, answer: ModelAnswer) -> None:
    """Remember an answer; safe to repeat. An answer that came from here is here already."""
    if answer.cached:
        return
    values = {
        "question": clean(question),
        "body": _body(answer),
        "model": clean(answer.model),
        "prompt": clean(prompt),
        "cost": answer.cost,
    }
    with store.write() as session:
        now = store.backend.now(session)
        session.run(_KEEP, values | {"at": now, "used_at": now})


def forget(store: Store, *, prompt: str | None = None, question: str | None = None) -> int:
    """Drop the answers to a prompt, or to one question; they are asked and paid for again. Return
    how many.
    """
    with store.write() as session:
        dropped = session.run(_OF_PROMPT, {"prompt": prompt}) if prompt is not None else 0
        return dropped + (session.run(_OF_QUESTION, {"question": question}) if question is not None else 0)


def _body(answer: ModelAnswer) -> str:
    usage = answer.usage
    said: dict[str, Any] = {
        "value": answer.value,
        "evidence": as_json(answer.evidence),
        "usage": {
            "calls": usage.calls,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
        },
    }
    body = json.dumps(
        said, allow_nan=False
    )  # ASCII: a model may say half a surrogate pair, and PostgreSQL keeps none
    if len(body) > MAX_ANSWER:
        raise TooLarge(
            f"the answer has {len(body):,} bytes; the limit is {MAX_ANSWER:,}. Ask about a smaller "
            "part of the page"
        )
    return body
