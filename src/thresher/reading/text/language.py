"""The language of a text: what the letters say, with what the page says about itself as a hint.

`<html lang>` is a default of the template more often than a fact, so it never wins against a clear reading. A
trigram model answers boldly on a dozen words, therefore short texts are not given to it: a wrong language
costs more than none.
"""

import re
from dataclasses import dataclass

from thresher.reading.html.parser import likely_language

SAMPLE = 5_000  # characters that are read; more change nothing
SHORT = 40  # letters below which a text says nothing, unless its script does
SURE = 0.5  # the lead of the likeliest language from which it is believed
HINTED = 0.3  # how far a hint alone is believed

# ISO 639-3 as the model has them, and the ISO 639-1 we speak.
_CODES = dict(
    re.findall(
        r"(\w{3}):(\w\w)",
        "ara:ar bul:bg cat:ca ces:cs cmn:zh dan:da deu:de ell:el eng:en est:et fin:fi fra:fr heb:he hin:hi hrv:hr hun:hu ind:id ita:it "
        "jpn:ja kor:ko lav:lv lit:lt nld:nl nob:no pes:fa pol:pl por:pt ron:ro rus:ru slk:sk slv:sl spa:es srp:sr swe:sv tam:ta tha:th "
        "tur:tr ukr:uk urd:ur vie:vi",
    )
)
_AMONG = frozenset(_CODES)
_ALIASES = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "cmn": "zh"}
# Scripts that a single one of our languages is written in: a few letters are enough. Kana first, as Japanese
# has Han too.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("th", re.compile("[\u0e01-\u0e5b]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ta", re.compile("[\u0b80-\u0bff]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
)
_LETTER = re.compile(r"[^\W\d_]")
_ADDRESS = re.compile(r"\S{0,200}(?:://|@|www\.)\S{1,500}")  # written in no language


@dataclass(frozen=True, slots=True)
class Language:
    """An ISO 639-1 code and how sure we are of it, from 0 to 1. `code` is None where the text does not
    say.
    """

    code: str | None
    confidence: float


UNKNOWN = Language(None, 0.0)


def primary(tag: str) -> str | None:
    """The language of a tag such as `de-AT` or `zh_Hans`, as ISO 639-1; None where it is no language we
    know.
    """
    code = re.split(r"[-_]", tag.strip().lower()[:20], maxsplit=1)[0]
    code = _ALIASES.get(code, _CODES.get(code, code))
    return code if code in _CODES.values() else None


def language(text: str, hint: str = "") -> Language:
    """The language that a text is written in. `hint` is what the page claims, for instance its `lang`."""
    sample = _ADDRESS.sub(" ", text[:SAMPLE])
    letters = len(_LETTER.findall(sample))
    claimed = primary(hint)
    by_script = _by_script(sample, letters)
    if by_script is not None:
        return by_script
    if letters < SHORT:
        return UNKNOWN if claimed is None or letters == 0 else Language(claimed, HINTED)
    found, lead = likely_language(sample, _AMONG)
    code = _CODES.get(found or "")
    # What a page says of itself is a weak witness, but a dozen words against it are a weaker one.
    confidence = lead * min(1.0, letters / ((2 if claimed is None else 3) * SHORT))
    if code is not None and code == claimed:
        return Language(code, max(confidence, 0.9))
    if code is not None and confidence >= SURE:
        return Language(code, confidence)
    return UNKNOWN if claimed is None else Language(claimed, HINTED)


def _by_script(sample: str, letters: int) -> Language | None:
    """A language known by its letters alone: at least four of them, and a fifth of all."""
    if sample.isascii():
        return None
    for code, script in _SCRIPTS:
        count = len(script.findall(sample))
        if count >= 4 and count * 5 >= letters:
            return Language(code, min(1.0, 0.6 + count / letters * 0.4))
    return None
