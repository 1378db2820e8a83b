"""The published model, to the last byte. Its weights come in a package that somebody unknown has made, so
nothing else is believed.

Both files are read once, when the model is opened. The weights are 90 MB, which costs a fraction of a second.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from thresher.core.errors import ConfigError

ADVICE = "run: thresher doctor --fix"
FILES: Mapping[str, str] = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


def check_original(folder: Path) -> None:
    """Refuse any other model: vectors of two models must never be compared, and a file that was changed may
    say anything.
    """
    if changed := [name for name, digest in FILES.items() if _digest(folder / name) != digest]:
        raise ConfigError(
            f"{' and '.join(changed)} in {folder} differs from the published embedding model, or is "
            f"damaged; {ADVICE}"
        )


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise ConfigError(f"the weights of the embeddings cannot be read ({problem}); {ADVICE}") from None
