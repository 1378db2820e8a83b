"""Vectors of texts for stages, each computed once on a thread and stored under the digest of its text."""

from collections.abc import Mapping, Sequence

from thresher.core.compute import in_thread
from thresher.core.keys import point_key
from thresher.store import vectors
from thresher.store.store import Store
from thresher.vectors.embedder import EMBED_BATCH, Embedder, shared_embedder


async def points(store: Store, kind: str, texts: Sequence[str]) -> list[bytes | None]:
    """A vector for each text, in their order; None for a text that says nothing."""
    keys = [point_key(text) if text.strip() else None for text in texts]
    wanted = {key: text for key, text in zip(keys, texts, strict=True) if key is not None}
    if not wanted:
        return [None] * len(texts)
    embedder = await in_thread(shared_embedder)
    of = (embedder.name, embedder.version, kind)
    found = await store.run(vectors.take, store, *of, list(wanted))
    missing = [key for key in wanted if key not in found]
    for start in range(0, len(missing), EMBED_BATCH):
        some = {key: wanted[key] for key in missing[start : start + EMBED_BATCH]}
        made = await in_thread(_embed, embedder, some)
        await store.run(vectors.put, store, *of, made)
        found = {**found, **made}
    return [found[key] if key is not None else None for key in keys]


def points_now(store: Store, kind: str, texts: Sequence[str]) -> list[bytes | None]:
    """The same for a person who asks: computed where nobody has yet, and not kept."""
    embedder = shared_embedder()
    wanted = {point_key(text): text for text in texts if text.strip()}
    found = vectors.take(store, embedder.name, embedder.version, kind, list(wanted))
    found |= _embed(embedder, {key: text for key, text in wanted.items() if key not in found})
    return [found.get(point_key(text)) for text in texts]


def _embed(embedder: Embedder, texts: Mapping[str, str]) -> dict[str, bytes]:
    if not texts:
        return {}
    matrix = embedder.embed(list(texts.values()))
    return {key: matrix.pack(row) for row, key in enumerate(texts)}
