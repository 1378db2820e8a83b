"""The sentence model all-MiniLM-L6-v2 in NumPy alone: six BERT layers, GELU, mean pooling, unit length.

The texts of a batch are sorted by length and their tokens laid end to end, without padding. So the large
products (nine tenths of the work) see one tall matrix, only attention goes group by group, nothing is
computed for padding, and a text gets the same vector whatever stands beside it, except for rounding.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from thresher.core.errors import ConfigError
from thresher.vectors.matrix import Matrix
from thresher.vectors.numeric import np
from thresher.vectors.original import ADVICE
from thresher.vectors.weights import Floats, Weights, read_weights
from thresher.vectors.wordpiece import MAX_TOKENS, WordPiece, read_vocabulary

# GELU: x · Φ(x), where Φ is the normal distribution.

ROOT_HALF = np.float32(0.5**0.5)
P = np.float32(0.3275911)
# Halved here once: Φ(-|x|) is half of erfc.
COEFFICIENTS = tuple(
    np.float32(each / 2) for each in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
)
# So many numbers at a time stay in the processor's cache while a dozen operations go over them.
AT_ONCE = 1 << 15


def gelu(values: Floats) -> Floats:
    """Bend the numbers, in place."""
    flat = values.reshape(-1)
    for start in range(0, len(flat), AT_ONCE):
        _bend(flat[start : start + AT_ONCE])
    return values


def _bend(values: Floats) -> None:
    size = np.abs(values)
    scaled = size * ROOT_HALF
    inverse = 1 / (1 + P * scaled)
    tail = np.full_like(inverse, COEFFICIENTS[0])
    for coefficient in COEFFICIENTS[1:]:
        tail *= inverse
        tail += coefficient
    tail *= inverse
    scaled *= scaled
    np.negative(scaled, out=scaled)
    np.exp(scaled, out=scaled)
    tail *= scaled
    tail *= size
    np.maximum(values, 0, out=values)
    values -= tail


NAME = "all-MiniLM-L6-v2"
# Rises when our own computation changes, so that old vectors are not compared with new ones.
PASS = 1
VOCABULARY, POSITIONS, WIDTH, INNER, LAYERS, HEADS = 30_522, 512, 384, 1_536, 6, 12
HEAD = WIDTH // HEADS
EPSILON = 1e-12
# Tokens computed together: enough to keep the processor busy, few enough for its cache; attention over 16
# long texts is 50 MB.
TOKENS_AT_ONCE = 4_096
MAX_SMALL_BATCH = 32

Span = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Linear:
    """A product with learned weights, and a shift."""

    weight: Floats
    bias: Floats

    def __call__(self, values: Floats) -> Floats:
        # For a single title the product is twice as fast with the weights on its left; for many, turning the
        # result costs more.
        done: Floats = (
            np.ascontiguousarray((self.weight @ values.T).T)
            if len(values) <= MAX_SMALL_BATCH
            else values @ self.weight.T
        )
        done += self.bias
        return done


@dataclass(frozen=True, slots=True)
class Norm:
    """Mean 0 and variance 1 over each row, then scaled and shifted as learned."""

    scale: Floats
    shift: Floats

    def __call__(self, values: Floats) -> Floats:
        centred: Floats = values - values.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", centred, centred)[:, None] / np.float32(values.shape[1])
        centred /= np.sqrt(variance + np.float32(EPSILON))
        centred *= self.scale
        centred += self.shift
        return centred


@dataclass(frozen=True, slots=True)
class Layer:
    """One of the six: attention, then two products with a bend between them; each beside a way past it."""

    triple: Linear
    attended: Linear
    attended_norm: Norm
    widen: Linear
    narrow: Linear
    narrow_norm: Norm

    def __call__(self, values: Floats, spans: Sequence[Span]) -> Floats:
        seen = self.attended_norm(self.attended(_attention(self.triple(values), spans)) + values)
        return self.narrow_norm(self.narrow(gelu(self.widen(seen))) + seen)


@dataclass(frozen=True, slots=True, eq=False)
class MiniLM:
    """Texts as points that lie near each other where they mean the same."""

    tokens: WordPiece = field(repr=False)
    words: Floats = field(repr=False)
    places: Floats = field(repr=False)
    first_norm: Norm = field(repr=False)
    layers: tuple[Layer, ...] = field(repr=False)
    version: str
    name: str = field(default=NAME, init=False)
    dims: int = field(default=WIDTH, init=False)
    meaning: bool = field(default=True, init=False)

    @property
    def sentence(self) -> str:
        """What these vectors are good for."""
        return (
            f"{NAME} on this machine: texts with the same meaning are similar (English; the first "
            f"{MAX_TOKENS} tokens count)"
        )

    def embed(self, texts: Sequence[str]) -> Matrix:
        """A vector of length one for each text."""
        found = np.empty((len(texts), WIDTH), np.float32)
        encoded = [self.tokens.encode(text) for text in texts]
        for batch in _batches(encoded):
            found[batch] = self._forward([encoded[each] for each in batch])
        if not np.isfinite(found).all():
            raise ConfigError(f"the embeddings are not numbers: the weights are damaged; {ADVICE}")
        return Matrix(memoryview(found.reshape(-1).data), WIDTH)

    def _forward(self, batch: Sequence[Sequence[int]]) -> Floats:
        """`batch` is sorted by length."""
        lengths = [len(each) for each in batch]
        values = self.words[[token for each in batch for token in each]] + np.concatenate(
            [self.places[:size] for size in lengths]
        )
        values, spans = self.first_norm(values), list(_spans(lengths))
        for layer in self.layers:
            values = layer(values, spans)
        means = np.concatenate(
            [values[start:end].reshape(-1, size, WIDTH).mean(axis=1) for start, end, size in spans]
        )
        with np.errstate(invalid="ignore", divide="ignore"):  # damaged weights: `embed` says so in words
            means /= np.linalg.norm(means, axis=1, keepdims=True)
        return means


def _batches(encoded: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Places of texts that are computed together, the short ones first."""
    batch: list[int] = []
    tokens = 0
    for each in sorted(range(len(encoded)), key=lambda place: len(encoded[place])):
        if batch and tokens + len(encoded[each]) > TOKENS_AT_ONCE:
            yield batch
            batch, tokens = [], 0
        batch.append(each)
        tokens += len(encoded[each])
    if batch:
        yield batch


def _spans(lengths: Sequence[int]) -> Iterator[Span]:
    """Where texts of one length lie among the tokens: from, to, length."""
    start = 0
    for size, group in groupby(lengths):
        end = start + size * sum(1 for _ in group)
        yield start, end, size
        start = end


def _attention(triple: Floats, spans: Sequence[Span]) -> Floats:
    done = np.empty((len(triple), WIDTH), np.float32)
    for start, end, size in spans:
        asked, keys, values = triple[start:end].reshape(-1, size, 3, HEADS, HEAD).transpose(2, 0, 3, 1, 4)
        scores = asked @ keys.swapaxes(2, 3)
        scores -= scores.max(axis=3, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=3, keepdims=True)
        done[start:end] = (scores @ values).transpose(0, 2, 1, 3).reshape(-1, WIDTH)
    return done


def open_minilm(folder: Path) -> MiniLM:
    """The model from its folder. Raises ConfigError if something is missing, damaged or of another model."""
    weights = read_weights(folder / "model.safetensors")
    words = weights.take("embeddings.word_embeddings.weight", VOCABULARY, WIDTH)
    places = weights.take("embeddings.position_embeddings.weight", POSITIONS, WIDTH)
    kinds = weights.take("embeddings.token_type_embeddings.weight", 2, WIDTH)
    layers = tuple(_layer(weights, f"encoder.layer.{number}") for number in range(LAYERS))
    tokens = read_vocabulary(folder / "vocab.txt", VOCABULARY)
    # Every text is a first sentence: its kind can be added to the places once and for all.
    return MiniLM(
        tokens,
        words,
        places + kinds[0],
        _norm(weights, "embeddings.LayerNorm"),
        layers,
        f"{PASS}-{weights.fingerprint[:12]}",
    )


def _layer(weights: Weights, name: str) -> Layer:
    query, key, value = (
        _linear(weights, f"{name}.attention.self.{part}", WIDTH, WIDTH) for part in ("query", "key", "value")
    )
    # Attention divides by the root of the head's width; dividing the question beforehand is the same and
    # costs nothing.
    root = np.float32(HEAD) ** np.float32(0.5)
    weight = np.concatenate([query.weight / root, key.weight, value.weight], axis=0)
    bias = np.concatenate([query.bias / root, key.bias, value.bias])
    return Layer(
        triple=Linear(weight, bias),
        attended=_linear(weights, f"{name}.attention.output.dense", WIDTH, WIDTH),
        attended_norm=_norm(weights, f"{name}.attention.output.LayerNorm"),
        widen=_linear(weights, f"{name}.intermediate.dense", WIDTH, INNER),
        narrow=_linear(weights, f"{name}.output.dense", INNER, WIDTH),
        narrow_norm=_norm(weights, f"{name}.output.LayerNorm"),
    )


def _linear(weights: Weights, name: str, inward: int, outward: int) -> Linear:
    return Linear(weights.take(f"{name}.weight", outward, inward), weights.take(f"{name}.bias", outward))


def _norm(weights: Weights, name: str) -> Norm:
    return Norm(weights.take(f"{name}.weight", WIDTH), weights.take(f"{name}.bias", WIDTH))
