import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from thresher.core.errors import ConfigError
from thresher.vectors.embedder import weights_folder
from thresher.vectors.minilm import open_minilm
from thresher.vectors.weights import read_weights


def written(folder: Path, header: Any, data: bytes = b"", *, size: int | None = None) -> Path:
    path = folder / "model.safetensors"
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if size is None else size) + text + data)
    return path


def entry(first: int, last: int, *shape: int, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [first, last]}


def test_arrays_are_found_by_name_with_their_shape(tmp_path: Path):
    numbers = np.arange(6, dtype="<f4")
    path = written(tmp_path, {"__metadata__": {"format": "pt"}, "a": entry(0, 24, 2, 3)}, numbers.tobytes())
    assert read_weights(path).take("a", 2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_another_training_has_another_fingerprint(tmp_path: Path):
    first = read_weights(written(tmp_path, {"a": entry(0, 8, 2)}, struct.pack("<ff", 1, 2))).fingerprint
    again = read_weights(written(tmp_path, {"a": entry(0, 8, 2)}, struct.pack("<ff", 1, 2))).fingerprint
    other = read_weights(written(tmp_path, {"a": entry(0, 8, 2)}, struct.pack("<ff", 1, 3))).fingerprint
    assert first == again != other


@pytest.mark.promise(18)
@pytest.mark.parametrize(
    ("header", "size"),
    [
        (b"", None),
        (b"{}", 1 << 62),
        (b"{}", 1 << 30),
        (b"not json", None),
        (b"\xff\xff", None),
        (b"[]", None),
        (b'{"a": 1}', None),
        (b'{"a": {}}', None),
        (b"[" * 100_000, None),
        ({"a": entry(0, 1 << 40, 2)}, None),
        ({"a": entry(-400, 8, 2)}, None),
        ({"a": entry(8, 0, 2)}, None),
        ({"a": entry(0, 8, 1 << 40)}, None),
        ({"a": entry(0, 8, -1, -1)}, None),
        ({"a": entry(0, 8, 3)}, None),
        ({"a": {**entry(0, 8, 2), "data_offsets": [0]}}, None),
        ({"a": {**entry(0, 8, 2), "shape": "two"}}, None),
    ],
)
def test_a_header_that_lies_is_an_error_that_says_what_to_do(tmp_path: Path, header: Any, size: int | None):
    with pytest.raises(ConfigError, match=r"damaged.*thresher doctor --fix"):
        read_weights(written(tmp_path, header, b"12345678", size=size))


@pytest.mark.parametrize("content", [b"", b"\x00", b"\x08\x00\x00\x00\x00\x00\x00\x00"])
def test_a_file_that_was_cut_off_is_an_error(tmp_path: Path, content: bytes):
    (tmp_path / "model.safetensors").write_bytes(content)
    with pytest.raises(ConfigError, match="damaged"):
        read_weights(tmp_path / "model.safetensors")


def test_the_real_weights_cut_in_half_are_an_error(tmp_path: Path):
    folder = weights_folder()
    assert folder
    with (folder / "model.safetensors").open("rb") as file:
        (tmp_path / "model.safetensors").write_bytes(file.read(40 << 20))
    with pytest.raises(ConfigError, match="damaged"):
        open_minilm(tmp_path)


def test_the_weights_of_another_model_are_an_error(tmp_path: Path):
    written(tmp_path, {"embeddings.word_embeddings.weight": entry(0, 8, 2)}, b"12345678")
    with pytest.raises(ConfigError, match="do not fit the embedding model"):
        open_minilm(tmp_path)
    with pytest.raises(ConfigError, match="damaged"):
        open_minilm(tmp_path / "nowhere")
