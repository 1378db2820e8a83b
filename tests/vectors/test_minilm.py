"""The model against values published for the original, against a second formulation of our own, and against
hostile texts."""

import json
import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thresher.core.errors import ConfigError
from thresher.vectors import minilm
from thresher.vectors.embedder import weights_folder
from thresher.vectors.matrix import cosine
from thresher.vectors.minilm import MiniLM, gelu, open_minilm
from thresher.vectors.wordpiece import MAX_TOKENS

TEXTS = [
    "Senior Python Engineer",
    "Nurse",
    "",
    "Head of Marketing, Europe (m/f/d)",
    "Sr. Python Engineer",
    "naïve façade — 東京",
    "word " * 400,
    "🚀",
]
HOSTILE = [
    "",
    " ",
    "\x00",
    "\ud800",
    "x" * 1_000_000,
    "word " * 200_000,
    "👩‍💻" * 1000,
    "مهندس برمجيات",
    "\u202eoverride",
    "[CLS] [SEP] [MASK]",
]


# The first numbers of the vectors that the original gives for these texts.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "This is an example sentence",
            [0.06765693, 0.06349593, 0.04871314, 0.07930495, 0.03744806, 0.00265273],
        ),
        (
            "Each sentence is converted.",
            [0.07853645, 0.08856265, -0.00209270, -0.00717247, -0.01252624, 0.01881747],
        ),
        ("", [-0.11883835, 0.04829856, -0.00254805, -0.01101118, 0.05195070, 0.01029179]),
        ("Café déjà vu — 東京", [0.05083271, 0.00967685, 0.09635572, -0.00997369, -0.01987603, 0.01692343]),
    ],
)
def test_the_vectors_are_those_of_the_original(model: MiniLM, text: str, expected: list[float]):
    (found,) = model.embed([text])
    assert np.abs(np.asarray(found)[:6] - expected).max() < 1e-6


class Slow:
    """The same pass as a textbook has it: double precision, padding and a mask, one head at a time, the error
    function of `math`."""

    def __init__(self, path: Path) -> None:
        body = path.read_bytes()
        (size,) = struct.unpack("<Q", body[:8])
        self.header: dict[str, Any] = json.loads(body[8 : 8 + size])
        self.data = body[8 + size :]

    def __getitem__(self, name: str) -> Any:
        first, last = self.header[name]["data_offsets"]
        return (
            np.frombuffer(self.data[first:last], "<f4").astype(np.float64).reshape(self.header[name]["shape"])
        )

    def linear(self, values: Any, name: str) -> Any:
        return values @ self[f"{name}.weight"].T + self[f"{name}.bias"]

    def norm(self, values: Any, name: str) -> Any:
        spread = np.sqrt(values.var(axis=-1, keepdims=True) + 1e-12)
        return (values - values.mean(axis=-1, keepdims=True)) / spread * self[f"{name}.weight"] + self[
            f"{name}.bias"
        ]

    def attention(self, values: Any, mask: Any, name: str) -> Any:
        query, key, value = (self.linear(values, f"{name}.self.{part}") for part in ("query", "key", "value"))
        heads = []
        for head in range(12):
            part = slice(32 * head, 32 * (head + 1))
            scores = query[..., part] @ key[..., part].swapaxes(1, 2) / math.sqrt(32) + mask[:, None, :]
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            heads.append(shares / shares.sum(axis=-1, keepdims=True) @ value[..., part])
        return self.linear(np.concatenate(heads, axis=-1), f"{name}.output.dense")

    def embed(self, batch: list[list[int]]) -> Any:
        longest = max(map(len, batch))
        ids = np.array([[*tokens, *[0] * (longest - len(tokens))] for tokens in batch])
        real = np.array([[1.0] * len(tokens) + [0.0] * (longest - len(tokens)) for tokens in batch])
        values = (
            self["embeddings.word_embeddings.weight"][ids]
            + self["embeddings.position_embeddings.weight"][:longest]
        )
        values = self.norm(
            values + self["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm"
        )
        bend = np.vectorize(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))))
        for layer in range(6):
            name = f"encoder.layer.{layer}"
            seen = self.attention(values, (real - 1) * 1e9, f"{name}.attention")
            values = self.norm(seen + values, f"{name}.attention.output.LayerNorm")
            wide = bend(self.linear(values, f"{name}.intermediate.dense"))
            values = self.norm(self.linear(wide, f"{name}.output.dense") + values, f"{name}.output.LayerNorm")
        means = (values * real[..., None]).sum(axis=1) / real.sum(axis=1, keepdims=True)
        return means / np.linalg.norm(means, axis=1, keepdims=True)


def test_a_second_formulation_gives_the_same_vectors(model: MiniLM):
    folder = weights_folder()
    assert folder
    texts = [text[:120] for text in TEXTS]
    slow = Slow(folder / "model.safetensors").embed([model.tokens.encode(text) for text in texts])
    assert np.abs(np.asarray(model.embed(texts)) - slow).max() < 2e-6


def test_the_bend_is_exact_to_what_32_bits_can_tell():
    values = np.linspace(-12, 12, 100_001, dtype=np.float32)
    exact = np.array([x * 0.5 * math.erfc(-x / math.sqrt(2)) for x in values.astype(np.float64)])
    assert np.abs(gelu(values.copy()) - exact).max() < 1e-6


def test_a_batch_gives_what_single_texts_give(model: MiniLM):
    together = np.asarray(model.embed(TEXTS))
    alone = np.concatenate([np.asarray(model.embed([text])) for text in TEXTS])
    assert np.abs(together - alone).max() < 1e-5


def test_a_batch_too_large_for_one_pass_keeps_its_order(model: MiniLM, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(minilm, "TOKENS_AT_ONCE", 400)  # a tenth, so that a tenth of the texts is too large
    texts = [f"{'very ' * (number % 40)}long title {number}" for number in range(60)]
    assert sum(len(model.tokens.encode(text)) for text in texts) > 2 * minilm.TOKENS_AT_ONCE
    found = np.asarray(model.embed(texts))
    for place in (0, 17, 39, 59):
        assert np.abs(found[place] - np.asarray(model.embed([texts[place]]))[0]).max() < 1e-5


def test_the_same_texts_give_the_same_bytes(model: MiniLM):
    folder = weights_folder()
    assert folder
    again = open_minilm(folder)
    assert (
        model.embed(TEXTS).numbers.tobytes()
        == model.embed(TEXTS).numbers.tobytes()
        == again.embed(TEXTS).numbers.tobytes()
    )
    assert (model.name, model.version, model.dims, model.meaning) == (
        again.name,
        again.version,
        again.dims,
        True,
    )


@pytest.mark.promise(18)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_gets_a_vector_of_length_one(model: MiniLM, text: str):
    (vector,) = model.embed([text])
    assert len(vector) == 384
    assert cosine(vector, vector) == pytest.approx(1, abs=1e-5)


def test_nothing_gives_nothing(model: MiniLM):
    found = model.embed([])
    assert len(found) == 0
    assert np.asarray(found).shape == (0, 384)


def test_what_stands_after_the_last_token_does_not_count(model: MiniLM):
    start = "word " * (MAX_TOKENS - 2)
    assert model.embed([start])[0].tolist() == model.embed([start + "and another thing"])[0].tolist()


def test_two_names_of_one_role_are_nearer_than_two_roles_of_like_letters(model: MiniLM):
    one, same, java, teacher = model.embed(
        ["Sr. Python Engineer", "Senior Python Developer", "Java Developer", "Javanese teacher"]
    )
    assert cosine(one, same) > cosine(java, teacher) + 0.2


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 0.0])
def test_weights_that_are_no_numbers_are_an_error_and_not_a_vector(model: MiniLM, wrong: float):
    norm = replace(
        model.layers[-1].narrow_norm, scale=np.full(384, wrong, np.float32), shift=np.zeros(384, np.float32)
    )
    damaged = replace(model, layers=(*model.layers[:-1], replace(model.layers[-1], narrow_norm=norm)))
    with pytest.raises(ConfigError, match=r"damaged.*thresher doctor --fix"), np.errstate(all="ignore"):
        damaged.embed(["Nurse"])
