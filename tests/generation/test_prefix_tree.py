"""Prefix trees of texts: shared tokens, predictions, and attention."""

import numpy as np

from generation.neural.judging.prefix_tree import Forest, Tree


def test_shared_prefixes_are_one_path() -> None:
    tree = Tree(9, [[1, 2, 3], [1, 2, 4], [1, 5, 3]])
    # The last token of a text is predicted, but never read: 9, 1, 2 and 5 are.
    assert tree.tokens == [9, 1, 2, 5]
    assert tree.parents == [-1, 0, 1, 1]
    assert tree.depths == [0, 1, 2, 2]
    assert tree.paths == [[0, 1, 2], [0, 1, 2], [0, 1, 3]]


def test_equal_texts_are_predicted_at_the_same_nodes() -> None:
    tree = Tree(0, [[1, 2, 3], [1, 2, 3]])
    assert tree.paths[0] == tree.paths[1]
    assert len(tree) == 3


def test_a_text_can_be_the_prefix_of_another() -> None:
    tree = Tree(0, [[1, 2], [1, 2, 3]])
    assert tree.paths == [[0, 1], [0, 1, 2]]


def test_a_node_sees_itself_and_its_ancestors_only() -> None:
    seen = Tree(9, [[1, 2, 3, 7], [1, 5, 3, 7]]).visibility()
    #                       9  1  2  3  5  3
    assert np.array_equal(
        seen.astype(int),
        [
            [1, 0, 0, 0, 0, 0],
            [1, 1, 0, 0, 0, 0],
            [1, 1, 1, 0, 0, 0],
            [1, 1, 1, 1, 0, 0],
            [1, 1, 0, 0, 1, 0],
            [1, 1, 0, 0, 1, 1],
        ],
    )


def test_packed_trees_keep_their_paths_and_do_not_see_each_other() -> None:
    trees = [Tree(9, [[1, 2], [3, 2]]), Tree(8, [[1, 5, 7]])]
    forest = Forest(trees)
    assert forest.tokens == [9, 1, 3, 8, 1, 5]
    assert forest.depths == [0, 1, 1, 0, 1, 2]
    assert forest.texts == [[1, 2], [3, 2], [1, 5, 7]]
    assert forest.paths == [[0, 1], [0, 2], [3, 4, 5]]
    expected = np.zeros((6, 6), dtype=bool)
    expected[:3, :3], expected[3:, 3:] = (tree.visibility() for tree in trees)
    assert np.array_equal(forest.visibility(), expected)
