"""Texts with common prefixes as a tree of tokens. Shared prefixes are computed once, and equal texts tie exactly."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class Tree:
    """The decoder inputs for several texts after one start.

    A node is an input token, described by ``tokens``, ``parents`` and ``depths``. The first node is the start, with
    parent -1 and depth 0. ``paths[i][t]`` is the node at which token ``t`` of text ``i`` is predicted. The last token
    of a text is predicted but never an input. If the start has several tokens (a prompt), its node is the last one.
    """

    def __init__(self, start: int, texts: Sequence[Sequence[int]]) -> None:
        self.tokens, self.parents, self.depths = [start], [-1], [0]
        self.texts = texts
        self.paths: list[list[int]] = []
        children: dict[tuple[int, int], int] = {}
        for text in texts:
            node, path = 0, []
            for token in text:
                path.append(node)
                if len(path) < len(text):
                    node = children.setdefault((node, token), len(self.tokens))
                    if node == len(self.tokens):
                        self.tokens.append(token)
                        self.depths.append(len(path))
                        self.parents.append(path[-1])
            self.paths.append(path)

    def __len__(self) -> int:
        return len(self.tokens)

    def visibility(self) -> npt.NDArray[np.bool_]:
        """Return (nodes, nodes): whether the row's node may attend to the column's, which is itself or an ancestor."""
        visible = np.eye(len(self), dtype=bool)
        for node, parent in enumerate(self.parents):
            # Parents precede their children.
            if parent >= 0:
                visible[node] |= visible[parent]
        return visible


class Forest(Tree):
    """Several trees concatenated into one. No node attends to a node of another tree."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.tokens = [token for tree in trees for token in tree.tokens]
        self.depths = [depth for tree in trees for depth in tree.depths]
        self.texts = [text for tree in trees for text in tree.texts]
        self.parents, self.paths = [], []
        for tree in trees:
            offset = len(self.parents)
            self.paths += [[offset + node for node in path] for path in tree.paths]
            self.parents += [offset + parent if parent >= 0 else -1 for parent in tree.parents]
