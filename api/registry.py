"""What apps declare by laying a module into a folder: found there when an app is ready, and asked for by key."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Generic, Protocol, TypeVar


class Keyed(Protocol):
    key: str


Declared = TypeVar("Declared", bound=Keyed)


class Registry(Generic[Declared]):
    """The things of one sort, by key, in the order in which they were found.

    ``base``: what each extends; ``noun``: what it is called where there are two of a key; ``module``: where in a folder
    its class stands, for things that are a folder each.
    """

    def __init__(self, base: type[Declared], noun: str, *, module: str = "") -> None:
        self._base, self._noun, self._module = base, noun, module
        self._known: dict[str, Declared] = {}

    def discover(self, package: str) -> list[Declared]:
        """Make known what a package has: every class in a module of it that extends the base and says its own ``key``.
        Called from ``AppConfig.ready``, with the app's own folder. What was found."""
        found = [
            declared()
            for each in iter_modules(import_module(package).__path__, f"{package}.")
            if each.ispkg or not self._module
            for module in [import_module(f"{each.name}.{self._module}" if self._module else each.name)]
            for declared in vars(module).values()
            if isinstance(declared, type) and issubclass(declared, self._base)
            if declared.__module__ == module.__name__ and "key" in vars(declared)
        ]
        for one in found:
            self.register(one)
        return found

    def register(self, declared: Declared) -> None:
        """Make one known, once: ValueError for a key that is taken."""
        if declared.key in self._known:
            raise ValueError(f"The {self._noun} {declared.key!r} is registered twice.")
        self._known[declared.key] = declared

    def get(self, key: str) -> Declared:
        """The one of that key; KeyError where there is none."""
        return self._known[key]

    def every(self) -> list[Declared]:
        return list(self._known.values())
