"""Which test modules a change touches: the graph of imports read from the sources, and what Django finds by name."""

import ast
import subprocess
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

#: What a test says that asks by HTTP: the views of its app are reached by addresses, not by imports.
ASKS = {"client_of", "APIClient", "client", "Client", "RequestFactory", "live_server"}
#: What reads all migrations.
OF_MIGRATIONS = ("tests/audit/", "tests/sql/", "tests/config/test_upgrades.py", "tests/processes/test_migrations.py")
#: What asks all routes as everybody: first where it has changed who may what.
OF_RIGHTS = ("tests/config/test_roles.py", "tests/config/test_routes.py")
RIGHTS = ("permissions.py", "models/roles.py")
#: What reads documents.
OF_DOCUMENTS = ("tests.config.test_documents", "tests.config.test_guides")


def git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if line]


def changed_since(root: Path, commit: str) -> list[str]:
    """Paths of files that differ from the commit, and those that git does not know yet."""
    return sorted({*git(root, "diff", "--name-only", commit), *git(root, "ls-files", "--others", "--exclude-standard")})


def beginning(root: Path) -> str:
    """The commit that a change is measured from where nobody says: where it left origin/main, else the one before."""
    for found in (["merge-base", "HEAD", "origin/main"], ["rev-parse", "HEAD~1"], ["rev-parse", "HEAD"]):
        try:
            [commit] = git(root, *found)
        except (subprocess.CalledProcessError, ValueError):
            continue
        if found[0] != "merge-base" or commit != git(root, "rev-parse", "HEAD")[0]:
            return commit
    raise SystemExit("There is no commit to compare with: name one with SINCE=...")


def module_of(path: str) -> str:
    """``projects/models/__init__.py`` is ``projects.models``."""
    return ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__init__")


@dataclass
class Graph:
    """The modules of a tree and what each needs."""

    root: Path
    paths: list[str]
    trees: dict[str, ast.Module] = field(default_factory=dict)

    @cached_property
    def modules(self) -> dict[str, str]:
        """Path by module."""
        return {module_of(path): path for path in self.paths}

    @cached_property
    def commands(self) -> dict[str, str]:
        return {m.rpartition(".")[2]: m for m in self.modules if ".management.commands." in m}

    @cached_property
    def needs(self) -> dict[str, set[str]]:
        known = set(self.modules)
        return {module: (set(self._needs(module, path)) & known) - {module} for module, path in self.modules.items()}

    def _needs(self, module: str, path: str) -> Iterator[str]:
        tree = ast.parse((self.root / path).read_text(encoding="utf-8"))
        package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
        names = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield from self._known(alias.name)
            elif isinstance(node, ast.ImportFrom):
                whence = self._whence(node, package)
                for alias in node.names:
                    yield from self._known(f"{whence}.{alias.name}")
                    names.add(alias.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
                # A command by its name; an application, a class or a module by its dotted path.
                if node.value in self.commands and path.startswith("tests/"):
                    yield self.commands[node.value]
                elif "." in node.value and node.value.replace(".", "").replace("_", "").isalnum():
                    yield from self._known(node.value)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.Name):
                names.add(node.id)
        if path.startswith("tests/"):
            yield from self._around(path, names)

    @staticmethod
    def _whence(node: ast.ImportFrom, package: str) -> str:
        if not node.level:
            return node.module or ""
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        return ".".join([*above, *([node.module] if node.module else [])])

    def _known(self, name: str) -> Iterator[str]:
        """The module that a name lies in, and the packages around it."""
        parts = name.split(".")
        for n in range(len(parts), 0, -1):
            if ".".join(parts[:n]) in self.modules:
                yield ".".join(parts[:n])
                return

    def _around(self, path: str, names: set[str]) -> Iterator[str]:
        """What a test depends on without importing it."""
        folders = PurePosixPath(path).parts[:-1]
        for n in range(len(folders)):
            if (conftest := ".".join([*folders[: n + 1], "conftest"])) in self.modules:
                yield conftest
        app = folders[1] if len(folders) > 1 else ""
        if names & ASKS and f"{app}.urls" in self.modules:
            yield f"{app}.urls"
        # Handlers of jobs, kinds and formats are registered when their app is ready.
        yield from (m for m in (f"{app}.apps", f"{app}.tasks", f"{app}.permissions") if m in self.modules)
        if app == "config":
            yield "config.settings"
        if path.startswith(OF_MIGRATIONS):
            yield from (m for m in self.modules if ".migrations." in m)

    def distances(self, changed: Iterable[str]) -> dict[str, int]:
        """By module how many imports lie between it and what has changed, for those that are touched at all."""
        users: dict[str, set[str]] = {module: set() for module in self.modules}
        for module, needed in self.needs.items():
            for each in needed:
                users[each].add(module)
        found = {module: 0 for module in changed if module in users}
        queue = deque(found)
        while queue:
            module = queue.popleft()
            for user in users[module] - set(found):
                found[user] = found[module] + 1
                queue.append(user)
        return found

    def beginning_at(self, paths: Iterable[str]) -> set[str]:
        """The modules that changed files are, or are read by: a file of data is read by its neighbours."""
        found: set[str] = set()
        for path in paths:
            if path.endswith(".py"):
                found.add(module_of(path))
            elif path.endswith(".md") and not path.startswith(tuple(f"{app}/" for app in self._apps)):
                found |= set(OF_DOCUMENTS)
            else:
                folder = PurePosixPath(path).parent
                found |= {m for m, p in self.modules.items() if PurePosixPath(p).parent == folder}
        return found

    @cached_property
    def _apps(self) -> set[str]:
        return {module.partition(".")[0] for module in self.modules} - {"tests"}


def read(root: Path) -> Graph:
    every = git(root, "ls-files", "--cached", "--others", "--exclude-standard", "*.py")
    return Graph(root, [path for path in every if (root / path).is_file()])


def touched(graph: Graph, paths: Collection[str]) -> list[str]:
    """The test modules that a change of these files touches, as paths, the nearest first."""
    changed = graph.beginning_at(paths)
    apps = {module.partition(".")[0] for module in changed}
    found = {
        graph.modules[module]: distance
        for module, distance in graph.distances(changed).items()
        if PurePosixPath(graph.modules[module]).name.startswith("test_")
    }
    if any(path.endswith(RIGHTS) for path in paths):
        found |= dict.fromkeys(found.keys() & set(OF_RIGHTS), 0)
    # Of the same distance those first that mirror what has changed.
    return sorted(found, key=lambda path: (found[path], path.split("/")[1] not in apps, path))
