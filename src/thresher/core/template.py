"""A project to begin with: what `thresher init` asks for an app, and what it writes of the answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from thresher.core.errors import UsageError

MAX_ANSWER = 1_000


@dataclass(frozen=True, slots=True)
class ProjectQuestion:
    """One thing that `thresher init` asks. `default` is what an empty answer means, `practice` what it means
    in a project for the practice web. `check`, if given, raises an error that says what is wrong with an
    answer.
    """

    name: str
    asks: str
    default: str = ""
    practice: str = ""
    check: Callable[[str], object] | None = None


@dataclass(frozen=True, slots=True)
class ProjectDraft:
    """What a template writes. `section` stands in `thresher.yaml`: the app's own key, with comments, and
    `settings` are its settings. `files` are others of the project by name, `commands` are run once when all
    is written, and `steps` are the commands to go on with, each with what it does.
    """

    section: str = ""
    settings: Mapping[str, float] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    commands: Sequence[Sequence[str]] = ()
    steps: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """A project to begin with: in a few words what it is for, what is asked, and what is made of the answers.

    `write` is given the answers by the names of their questions, and whether the project is to practise with.
    """

    title: str
    questions: Sequence[ProjectQuestion]
    write: Callable[[Mapping[str, str], bool], ProjectDraft]


def written(value: Any) -> str:
    """A text, or a list of texts, as YAML: whatever a person has typed stays what it is."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"[{', '.join(map(written, value))}]"


def parts_of(answer: str) -> list[str]:
    """What an answer lists, separated by commas."""
    return [part.strip() for part in answer.split(",") if part.strip()]


def checked(question: ProjectQuestion, answer: str) -> str:
    """An answer that can be used. Raises an error that says why one cannot."""
    text = answer.strip()
    if len(text) > MAX_ANSWER or not text.isprintable():
        raise UsageError(f"{question.name} must be at most {MAX_ANSWER:,} visible characters on one line")
    if text and question.check is not None:
        question.check(text)
    return text
