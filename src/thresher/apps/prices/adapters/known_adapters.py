"""What makes the adapter of a source, by kind: the one place where another may be put in its stead."""

from thresher.apps.prices.adapters.adapter import SourceAdapter
from thresher.apps.prices.model import Adapter, SourceSpec
from thresher.core.errors import ConfigError
from thresher.core.named import load_named

ADAPTERS: dict[Adapter, str] = {
    Adapter.MARKETPLACE: "thresher.apps.prices.adapters.catalogue:adapter_of",
    Adapter.PAGE: "thresher.apps.prices.adapters.catalogue:adapter_of",
    Adapter.SEARCH: "thresher.apps.prices.adapters.catalogue:adapter_of",
    Adapter.CSV: "thresher.apps.prices.adapters.csv:CsvAdapter",
}


def adapter_of(spec: SourceSpec) -> SourceAdapter:
    """The adapter of a source. Raises ConfigError for a source whose prices a person enters."""
    if spec.adapter not in ADAPTERS:
        raise ConfigError(
            f"source {spec.name}: its prices are entered manually, so there is nothing to collect"
        )
    made: SourceAdapter = load_named(ADAPTERS[spec.adapter])(spec)
    return made
