import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thresher.core.errors import ConfigError
from thresher.vectors.embedder import weights_folder
from thresher.vectors.wordpiece import MAX_REMEMBERED, MAX_TOKENS, Characters, WordPiece, read_vocabulary

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = [
    *MARKS,
    "engineer",
    "##s",
    "sen",
    "##ior",
    "c",
    "+",
    "#",
    "東",
    "京",
    "cafe",
    "[",
    "]",
    "sep",
    "σ",
    "##σ",
]
SMALL = WordPiece({word: number for number, word in enumerate(WORDS)}, max(map(len, WORDS)), 1, 2, 3)


def pieces(text: str) -> list[str]:
    return [WORDS[token] for token in SMALL.encode(text)][1:-1]


def folder() -> Path:
    found = weights_folder()
    assert found, "run: make setup"
    return found


@pytest.fixture(scope="module")
def real() -> WordPiece:
    return read_vocabulary(folder() / "vocab.txt", 30_522)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Senior engineers", ["sen", "##ior", "engineer", "##s"]),
        ("CAFÉ", ["cafe"]),
        ("cafe\u0301", ["cafe"]),
        ("C++", ["c", "+", "+"]),
        ("東京", ["東", "京"]),
        ("engi\u00adneer", ["engineer"]),
        ("en\x00gi\u200bneer\ufffd", ["engineer"]),
        ("engineer\u2003c\u2028c\tc", ["engineer", "c", "c", "c"]),
        ("ΣΣ", ["σ", "##σ"]),
        ("zebra engineer", ["[UNK]", "engineer"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_a_text_is_read_as_the_model_was_taught(text: str, expected: list[str]):
    assert pieces(text) == expected


def test_a_page_that_writes_a_mark_of_the_model_writes_a_word():
    assert pieces("[SEP]") == ["[", "sep", "]"]


def test_a_word_of_a_hundred_letters_is_read_and_a_longer_one_is_unknown():
    assert pieces("engineer" + "s" * 92) == ["engineer", *["##s"] * 92]
    assert pieces("engineer" + "s" * 93) == ["[UNK]"]


def test_the_rules_are_those_that_the_model_brings_with_it():
    rules = json.loads((folder() / "tokenizer.json").read_text("utf-8"))
    assert rules["normalizer"] == {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    }
    assert rules["pre_tokenizer"] == {"type": "BertPreTokenizer"}
    assert (rules["model"]["max_input_chars_per_word"], rules["model"]["continuing_subword_prefix"]) == (
        100,
        "##",
    )
    assert (
        json.loads((folder() / "sentence_bert_config.json").read_text("utf-8"))["max_seq_length"]
        == MAX_TOKENS
    )
    assert rules["model"]["vocab"] == read_vocabulary(folder() / "vocab.txt", 30_522).vocabulary


# Tokens that the model's own tokeniser gives, noted down once.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("This is an example sentence", [2023, 2003, 2019, 2742, 6251]),
        ("Café déjà vu — 東京", [7668, 2139, 3900, 24728, 1517, 1879, 1755]),
        ("", []),
    ],
)
def test_the_real_vocabulary_gives_the_tokens_of_the_original(
    real: WordPiece, text: str, expected: list[int]
):
    assert real.encode(text) == [101, *expected, 102]


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    "text",
    [
        "word " * 200_000,
        "x" * 1_000_000,
        "a\u0301\u0327" * 300_000,
        " " * 1_000_000,
        "\ud800" * 1_000_000,
        "👩‍💻" * 250_000,
        "مهندس " * 170_000,
        "".join(map(chr, range(0x110000))),
        ("s" * 99 + "€ ") * 10_000,
    ],
    ids=[
        "words",
        "one word",
        "marks",
        "blanks",
        "surrogates",
        "emoji",
        "arabic",
        "everything",
        "almost words",
    ],
)
def test_a_megabyte_of_anything_costs_no_more_than_what_is_looked_at(real: WordPiece, text: str):
    found = real.encode(text)
    assert 2 <= len(found) <= MAX_TOKENS
    assert (found[0], found[-1]) == (101, 102)


@pytest.mark.promise(18)
def test_the_table_of_characters_stops_growing():
    characters = Characters()
    "".join(map(chr, range(60_000))).translate(characters)
    assert len(characters) == MAX_REMEMBERED


@given(st.text(alphabet=st.characters(codec=None), max_size=300))
def test_any_text_becomes_known_tokens(text: str):
    tokens = SMALL.encode(text)
    assert len(tokens) <= MAX_TOKENS
    assert all(0 <= token < len(WORDS) for token in tokens)
    assert SMALL.encode(text) == tokens


@pytest.mark.parametrize("content", [b"", b"[UNK]\n[CLS]\n", b"\xff\xfe", b"a\n" * 100])
def test_a_damaged_vocabulary_is_an_error_that_says_what_to_do(tmp_path: Path, content: bytes):
    (tmp_path / "vocab.txt").write_bytes(content)
    with pytest.raises(ConfigError, match=r"vocabulary.*thresher doctor --fix"):
        read_vocabulary(tmp_path / "vocab.txt", 30_522)
    with pytest.raises(ConfigError, match="thresher doctor --fix"):
        read_vocabulary(tmp_path / "nowhere.txt", 30_522)
