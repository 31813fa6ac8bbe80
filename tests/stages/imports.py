"""The test modules that a change affects, from the imports in the sources and the names that Django loads."""

import ast
import subprocess
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

#: Names in tests that make HTTP requests. They reach the views of their app by URL, without an import.
HTTP_NAMES = {"client_of", "APIClient", "client", "Client", "RequestFactory", "live_server"}
#: Tests that depend on all migrations.
MIGRATION_TESTS = ("tests/audit/", "tests/sql/", "tests/config/test_upgrades.py", "tests/processes/test_migrations.py")
#: Tests that request all routes in all roles. They run first if permissions have changed.
ROUTE_TESTS = ("tests/config/test_roles.py", "tests/config/test_routes.py")
PERMISSIONS = ("permissions.py", "models/roles.py")
#: Tests that read documents.
DOCUMENT_TESTS = ("tests.config.test_documents", "tests.config.test_guides")


def git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if line]


def changed_since(root: Path, commit: str) -> list[str]:
    """Return the paths of files that differ from the commit, and of untracked files."""
    return sorted({*git(root, "diff", "--name-only", commit), *git(root, "ls-files", "--others", "--exclude-standard")})


def base_commit(root: Path) -> str:
    """Return the default base of a change: the merge base with origin/main, or the previous commit."""
    for command in (["merge-base", "HEAD", "origin/main"], ["rev-parse", "HEAD~1"], ["rev-parse", "HEAD"]):
        try:
            [commit] = git(root, *command)
        except (subprocess.CalledProcessError, ValueError):
            continue
        if command[0] != "merge-base" or commit != git(root, "rev-parse", "HEAD")[0]:
            return commit
    raise SystemExit("There is no commit to compare with. Set SINCE.")


def module_of(path: str) -> str:
    """Return the module of a path: ``projects/models/__init__.py`` is ``projects.models``."""
    return ".".join(PurePosixPath(path).with_suffix("").parts).removesuffix(".__init__")


@dataclass
class Graph:
    """The modules of a source tree and their dependencies."""

    root: Path
    paths: list[str]
    trees: dict[str, ast.Module] = field(default_factory=dict)

    @cached_property
    def modules(self) -> dict[str, str]:
        """Return the path of each module."""
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
                base = self._base(node, package)
                for alias in node.names:
                    yield from self._known(f"{base}.{alias.name}")
                    names.add(alias.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 80:
                # The name of a command, or the dotted path of an app, class or module.
                if node.value in self.commands and path.startswith("tests/"):
                    yield self.commands[node.value]
                elif "." in node.value and node.value.replace(".", "").replace("_", "").isalnum():
                    yield from self._known(node.value)
            elif isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.Name):
                names.add(node.id)
        if path.startswith("tests/"):
            yield from self._implicit(path, names)

    @staticmethod
    def _base(node: ast.ImportFrom, package: str) -> str:
        if not node.level:
            return node.module or ""
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        return ".".join([*above, *([node.module] if node.module else [])])

    def _known(self, name: str) -> Iterator[str]:
        """Yield the module that contains a name, if it is known."""
        parts = name.split(".")
        for n in range(len(parts), 0, -1):
            if ".".join(parts[:n]) in self.modules:
                yield ".".join(parts[:n])
                return

    def _implicit(self, path: str, names: set[str]) -> Iterator[str]:
        """Yield what a test depends on without importing it."""
        folders = PurePosixPath(path).parts[:-1]
        for n in range(len(folders)):
            if (conftest := ".".join([*folders[: n + 1], "conftest"])) in self.modules:
                yield conftest
        app = folders[1] if len(folders) > 1 else ""
        if names & HTTP_NAMES and f"{app}.urls" in self.modules:
            yield f"{app}.urls"
        # Apps register the handlers of jobs, kinds and formats in ready().
        yield from (m for m in (f"{app}.apps", f"{app}.tasks", f"{app}.permissions") if m in self.modules)
        if app == "config":
            yield "config.settings"
        if path.startswith(MIGRATION_TESTS):
            yield from (m for m in self.modules if ".migrations." in m)

    def distances(self, changed: Iterable[str]) -> dict[str, int]:
        """Return the number of imports between each affected module and the nearest changed one."""
        importers: dict[str, set[str]] = {module: set() for module in self.modules}
        for module, needed in self.needs.items():
            for dependency in needed:
                importers[dependency].add(module)
        found = {module: 0 for module in changed if module in importers}
        queue = deque(found)
        while queue:
            module = queue.popleft()
            for importer in importers[module] - set(found):
                found[importer] = found[module] + 1
                queue.append(importer)
        return found

    def changed_modules(self, paths: Iterable[str]) -> set[str]:
        """Return the modules of changed files. A data file counts as a change of the modules in its folder."""
        found: set[str] = set()
        for path in paths:
            if path.endswith(".py"):
                found.add(module_of(path))
            elif path.endswith(".md") and not path.startswith(tuple(f"{app}/" for app in self._apps)):
                found |= set(DOCUMENT_TESTS)
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


def affected_tests(graph: Graph, paths: Collection[str]) -> list[str]:
    """Return the paths of the test modules that a change of these files affects, the closest first."""
    changed = graph.changed_modules(paths)
    apps = {module.partition(".")[0] for module in changed}
    found = {
        graph.modules[module]: distance
        for module, distance in graph.distances(changed).items()
        if PurePosixPath(graph.modules[module]).name.startswith("test_")
    }
    if any(path.endswith(PERMISSIONS) for path in paths):
        found |= dict.fromkeys(found.keys() & set(ROUTE_TESTS), 0)
    # At equal distance, tests of the changed apps come first.
    return sorted(found, key=lambda path: (found[path], path.split("/")[1] not in apps, path))
