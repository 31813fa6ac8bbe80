"""Registry of plug-ins, which apps declare by adding a module."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Generic, Protocol, TypeVar


class Keyed(Protocol):
    key: str


Declared = TypeVar("Declared", bound=Keyed)


class Registry(Generic[Declared]):
    """Plug-ins of one type by key, in order of registration.

    ``base``: the base class. ``noun``: the name of the type in error messages. ``module``: the module that declares the
    plug-ins in each folder of a package; empty if every module of the package declares some.
    """

    def __init__(self, base: type[Declared], noun: str, *, module: str = "") -> None:
        self._base, self._noun, self._module = base, noun, module
        self._known: dict[str, Declared] = {}

    def discover(self, package: str, *, module: str | None = None) -> list[Declared]:
        """Register and return each subclass of the base in a package that sets its own ``key``.

        Searches the registry's ``module`` in each folder of the package, or all modules of the package if it is empty.
        The argument ``module`` overrides it for this package. Called from ``AppConfig.ready``.
        """
        found = [
            declared()
            for name in self._modules(package, self._module if module is None else module)
            for module in [import_module(name)]
            for declared in vars(module).values()
            if isinstance(declared, type) and issubclass(declared, self._base)
            if declared.__module__ == module.__name__ and "key" in vars(declared)
        ]
        for one in found:
            self.register(one)
        return found

    def _modules(self, package: str, module: str) -> Iterator[str]:
        [folder] = import_module(package).__path__
        for each in iter_modules([folder], f"{package}."):
            if not module:
                yield each.name
            # Check for the file without importing the package, because some packages load torch.
            elif each.ispkg and Path(folder, each.name.rpartition(".")[2], f"{module}.py").exists():
                yield f"{each.name}.{module}"

    def register(self, declared: Declared) -> None:
        """Register a plug-in. Raise `ValueError` if its key is taken."""
        if declared.key in self._known:
            raise ValueError(f"The {self._noun} {declared.key!r} is registered twice.")
        self._known[declared.key] = declared

    def get(self, key: str) -> Declared:
        """Return the plug-in with a key. Raise `KeyError` if there is none."""
        return self._known[key]

    def every(self) -> list[Declared]:
        return list(self._known.values())
