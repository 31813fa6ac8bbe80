"""What backends share whose weights lie in a folder or on the hub: all that needs torch is in a module of theirs."""

from abc import ABC, abstractmethod
from typing import Any

from . import weights
from .protocol import Config, Facts, Summariser


class Weighted(ABC):
    """Override `neural`. Its module has ``facts(config)`` and ``load(config, facts)``, as in `protocol.Backend`."""

    no_probe = ""

    @abstractmethod
    def neural(self) -> Any:
        """The module of ``generation.neural``, imported by whoever asks: a worker."""

    def needs_torch(self, config: Config) -> bool:
        return True

    def weights(self, config: Config) -> str:
        return weights.held(config)

    def facts(self, config: Config) -> dict[str, Any]:
        found: dict[str, Any] = self.neural().facts(config)
        return found

    def load(self, config: Config, facts: Facts) -> Summariser:
        loaded: Summariser = self.neural().load(weights.at_commit(config, facts), facts)
        return loaded
