"""Texts that begin alike, as one tree of tokens: what they share is read once, and equal texts tie exactly."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class Tree:
    """The inputs of a decoder for several texts after one start.

    A node is a token that is read; ``tokens``, ``parents`` and ``depths`` describe it (the first node is the start,
    its parent -1, its depth 0). ``paths[i][t]`` is the node at which token ``t`` of text ``i`` is predicted: the last
    token of a text is predicted and never read. A start of several tokens (the end of a prompt) is one node, its last.
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

    def sees(self) -> npt.NDArray[np.bool_]:
        """(nodes, nodes): whether the row's node is or follows the column's, so that it may attend to it."""
        seen = np.eye(len(self), dtype=bool)
        for node, parent in enumerate(self.parents):
            # Parents come before their children.
            if parent >= 0:
                seen[node] |= seen[parent]
        return seen


class Forest(Tree):
    """Trees one after the other, as if they were one of several starts; no node of one sees another's."""

    def __init__(self, trees: Sequence[Tree]) -> None:
        self.tokens = [token for tree in trees for token in tree.tokens]
        self.depths = [depth for tree in trees for depth in tree.depths]
        self.texts = [text for tree in trees for text in tree.texts]
        self.parents, self.paths = [], []
        for tree in trees:
            first = len(self.parents)
            self.paths += [[first + node for node in path] for path in tree.paths]
            self.parents += [first + parent if parent >= 0 else -1 for parent in tree.parents]
