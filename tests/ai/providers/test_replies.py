"""What each vendor answers, as we understand it: the words, what was used, and why it stopped."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.ai.providers.scene import (
    ANTHROPIC,
    GOOGLE,
    HOST,
    KEY,
    OPENAI,
    PROMPT,
    SCHEMA,
    VENDORS,
    Vendor,
    ask,
)
from thresher.ai.provider import CallFailed, Message, ModelCall, ModelReply, StopReason
from thresher.ai.providers import open_provider, wire
from thresher.config.models import Thinker
from thresher.core.errors import ConfigError
from thresher.practice.web import Knob, PracticeWeb, Trouble

ROOT = Path(__file__).parents[3]
each_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=str)


@each_vendor
def test_a_question_is_answered_in_its_schema_with_one_request(web: PracticeWeb, vendor: Vendor):
    reply = ask(web, vendor)
    assert json.loads(reply.text) == {"title": "Bridge Keeper", "price": "€52.00", "tags": ["steel", "river"]}
    assert (reply.stop, reply.model, reply.usage.calls) == (StopReason.DONE, vendor.model, 1)
    assert reply.usage.input_tokens >= len(PROMPT) // 4
    assert reply.usage.output_tokens > 0
    assert len(web.log()) == 1


@each_vendor
def test_the_system_text_the_turns_and_the_longest_answer_are_passed_on(web: PracticeWeb, vendor: Vendor):
    ask(web, vendor, most=321, turns=(Message('{"title": 5}', ours=False), Message("title must be a string")))
    (entry,) = web.log()
    for said in (
        "You read pages.",
        "Bridge Keeper",
        "title must be a string",
        "321",
        '\\"title\\": 5',
        "What it is called",
    ):
        assert said in entry.body


@each_vendor
def test_a_long_answer_is_asked_for_whole(web: PracticeWeb, vendor: Vendor):
    """Libraries would rather stream it; a stream can fail half-way, and is billed all the same."""
    assert json.loads(ask(web, vendor, most=60_000).text)["title"] == "Bridge Keeper"
    (entry,) = web.log()
    assert '"stream":true' not in entry.body
    assert "stream" not in entry.path


@each_vendor
@pytest.mark.parametrize("count", [16, 17, 60])
def test_a_schema_of_many_fields_is_answered_by_everybody(web: PracticeWeb, vendor: Vendor, count: int):
    names = [f"field_{number}" for number in range(count)]
    fields = {name: {"anyOf": [{"type": "string"}, {"type": "null"}]} for name in names}
    schema = {"type": "object", "properties": fields, "required": names, "additionalProperties": False}
    assert json.loads(ask(web, vendor, "field_3: three", schema=schema).text) == dict.fromkeys(names) | {
        "field_3": "three"
    }
    assert len(web.log()) == 1


def test_tokens_thought_in_silence_are_counted(web: PracticeWeb):
    spoken, silent = ask(web, OPENAI), ask(web, GOOGLE)
    assert silent.usage.output_tokens > spoken.usage.output_tokens


def test_who_does_not_count_is_taken_to_have_used_the_most(web: PracticeWeb):
    said = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "{}"}}],
    }
    web.turn(Knob(Trouble.BODY, HOST, text=json.dumps(said), kind="application/json"))
    reply = ask(web, OPENAI)
    assert reply.usage.input_tokens > len(PROMPT)
    assert reply.usage.output_tokens == 2


@each_vendor
def test_an_answer_that_was_cut_off_is_seen_to_be(web: PracticeWeb, vendor: Vendor):
    web.turn(Knob(Trouble.CUT_SHORT, HOST, number=5))
    reply = ask(web, vendor)
    assert (reply.stop, len(web.log())) == (StopReason.LENGTH, 1)
    assert reply.usage.output_tokens >= 5


@each_vendor
def test_a_refusal_is_seen_to_be_one(web: PracticeWeb, vendor: Vendor):
    web.turn(Knob(Trouble.REFUSAL, HOST))
    reply = ask(web, vendor)
    assert (reply.stop, len(web.log())) == (StopReason.REFUSED, 1)


@each_vendor
def test_broken_json_is_a_reply_like_any_other_and_is_judged_elsewhere(web: PracticeWeb, vendor: Vendor):
    web.turn(Knob(Trouble.NOT_JSON, HOST))
    reply = ask(web, vendor)
    assert reply.text.startswith("Sure!")
    assert (reply.stop, len(web.log())) == (StopReason.DONE, 1)


def test_a_server_of_ones_own_needs_no_key(web: PracticeWeb):
    assert ask(web, OPENAI, key=None).stop is StopReason.DONE


@pytest.mark.promise(17)
@each_vendor
def test_the_environment_leads_neither_key_nor_question_elsewhere(
    web: PracticeWeb, vendor: Vendor, monkeypatch: pytest.MonkeyPatch
):
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/elsewhere")
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "GOOGLE_API_KEY",
        "GEMINI_API_KEY",
    ):
        monkeypatch.setenv(name, "key-of-the-environment")
    ask(web, vendor)
    (entry,) = web.log()
    assert "key-of-the-environment" not in str(entry.headers)
    assert entry.headers.get("authorization", f"Bearer {KEY}") == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("vendor", "address", "most"),
    [
        (OPENAI, "https://api.openai.com/v1/chat/completions", '"max_completion_tokens":500'),
        (ANTHROPIC, "https://api.anthropic.com/v1/messages", '"max_tokens":500'),
        (GOOGLE, "https://generativelanguage.googleapis.com/", '"maxOutputTokens": 500'),
    ],
    ids=str,
)
def test_a_vendor_is_asked_where_it_lives(
    vendor: Vendor, address: str, most: str, monkeypatch: pytest.MonkeyPatch
):
    sent: list[httpx2.Request] = []

    def refuse(request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(401, json={})

    monkeypatch.setattr(
        wire,
        "client",
        lambda *, direct: httpx2.AsyncClient(transport=httpx2.MockTransport(refuse), timeout=20),
    )
    with pytest.raises(CallFailed):
        asyncio.run(
            open_provider(Thinker("thinker", vendor.kind, KEY)).complete(
                ModelCall(vendor.model, "", (Message("x"),), SCHEMA, 500, 20)
            )
        )
    (request,) = sent
    assert str(request.url).startswith(address)
    assert most in request.content.decode()


def test_a_server_of_ones_own_is_asked_past_the_proxy(web: PracticeWeb, monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(web, OPENAI).stop is StopReason.DONE


def test_the_longest_answer_is_said_in_the_words_a_server_knows(web: PracticeWeb):
    ask(web, OPENAI)
    (entry,) = web.log()
    assert '"max_tokens":500' in entry.body
    assert "max_completion_tokens" not in entry.body


def test_the_libraries_are_loaded_with_the_first_question(web: PracticeWeb):
    code = (
        "import asyncio, sys\nfrom tests.ai.providers.scene import OPENAI, ask\nfrom thresher.ai.providers import open_provider\n"
        "from thresher.config.models import Thinker\n"
        "def loaded(): return sorted({m.partition('.')[0] for m in sys.modules} & {'pydantic_ai', 'openai', 'anthropic'})\n"
        f"open_provider(Thinker('o', 'openai', 'k')); print(loaded()); ask('{web.url}', OPENAI); print(loaded())"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    assert said.splitlines() == ["[]", "['openai', 'pydantic_ai']"]


def test_many_first_questions_at_once_load_one_vendor(web: PracticeWeb):
    async def several() -> list[ModelReply]:
        provider = open_provider(Thinker("thinker", "openai", KEY, f"{web.url}/v1"))
        try:
            return await asyncio.gather(
                *(
                    provider.complete(ModelCall("m", "", (Message(PROMPT),), SCHEMA, 500, 20))
                    for _ in range(8)
                )
            )
        finally:
            await provider.close()

    assert {reply.stop for reply in asyncio.run(several())} == {StopReason.DONE}
    assert len(web.log()) == 8


@pytest.mark.parametrize(
    ("kind", "library"), [("openai", "openai"), ("anthropic", "anthropic"), ("google", "google.genai")]
)
def test_a_missing_extra_says_what_to_install(kind: str, library: str, monkeypatch: pytest.MonkeyPatch):
    for missing in ("pydantic_ai", library):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, missing, None)
            with pytest.raises(
                ConfigError, match=rf"needs {missing}, which is not installed; .*pip install 'thresher\[ai\]'"
            ):
                open_provider(Thinker("thinker", kind, "k"))


def test_a_library_that_is_broken_says_what_to_install_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "thresher.ai.providers.openai", raising=False)
    monkeypatch.setitem(sys.modules, "pydantic_ai.models.openai", None)
    with pytest.raises(CallFailed, match=r"cannot be loaded: .*pip install 'thresher\[ai\]'"):
        asyncio.run(
            open_provider(Thinker("thinker", "openai", "k")).complete(
                ModelCall("m", "", (Message("x"),), SCHEMA, 5, 5)
            )
        )
