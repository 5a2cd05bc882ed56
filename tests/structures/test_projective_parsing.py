"""Dependency trees: Eisner's algorithm finds what trying all trees finds."""

import naive_structures as naive
import numpy as np
import pytest

from perceptrons import StructuredPerceptron
from perceptrons.structures import ProjectiveParsing, best_tree, is_projective

SENTENCE = [("the", "D"), ("old", "A"), ("dog", "N"), ("barks", "V"), ("loudly", "R")]
TREE = [3, 3, 4, 0, 4]


def test_as_many_trees_as_there_should_be():
    assert [len(naive.trees(n)) for n in range(1, 6)] == [1, 2, 7, 30, 143]  # OEIS A006013


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_best_of_all_trees(n):
    random = np.random.RandomState(n)
    trees = naive.trees(n)
    for _ in range(120):
        scores = random.randint(-9, 10, (n + 1, n + 1)).astype(float)
        found = best_tree(scores)
        assert found in trees
        assert naive.tree_score(scores, found) == max(naive.tree_score(scores, tree) for tree in trees)


@pytest.mark.parametrize("n", [30, 80])
def test_the_tree_that_is_wanted_is_found_in_long_sentences(n):
    random = np.random.RandomState(n)
    heads = best_tree(random.random((n + 1, n + 1)))
    assert naive.is_tree(heads) and naive.is_projective(heads)
    scores = random.random((n + 1, n + 1))
    scores[heads, np.arange(1, n + 1)] += 1.0  # every arc of it is better than any other
    assert best_tree(scores) == heads


def test_search_with_the_loss_added():
    random = np.random.RandomState(0)
    parsing = ProjectiveParsing(2**10)
    for scale in (0.5, 2.0, 20.0):
        weights = random.randint(-3, 4, 2**10).astype(float)
        totals = {
            tuple(tree): (parsing.features(SENTENCE, tree) @ weights)[0] + scale * parsing.loss(TREE, tree)
            for tree in naive.trees(5)
        }
        assert totals[tuple(parsing.augmented(SENTENCE, weights, TREE, scale))] == max(totals.values())


def test_scores_of_trees_are_sums_over_arcs():
    parsing, weights = ProjectiveParsing(2**14), np.random.RandomState(1).normal(size=2**14)
    scores = parsing._scores(SENTENCE, weights)
    for tree in naive.trees(5)[::10]:
        features = parsing.features(SENTENCE, tree)
        assert (features @ weights)[0] == pytest.approx(naive.tree_score(scores, tree))
        between = sum(abs(head - word) - 1 for word, head in enumerate(tree, 1))
        assert features.sum() == 34 * 5 + between


def test_is_projective():
    for n in range(1, 5):
        for heads in naive.product(range(n + 1), repeat=n):
            if naive.is_tree(heads):
                assert is_projective(heads) == naive.is_projective(heads)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([0, 0], "exactly one word whose head is 0, got \\[0, 0\\]"),
        ([2, 1, 0], "a tree must not have cycles, got \\[2, 1, 0\\]"),
        ([0, 2], "a tree must not have cycles"),
        ([0, 3], "heads of 2 words must lie between 0 and 2, got \\[0, 3\\]"),
        ([0.0, 1.0], "a tree must be a list of heads, whole numbers with 0 for the root"),
        ([[0]], "a tree must be a list of heads"),
    ],
)
def test_what_is_no_tree_is_refused(heads, message):
    with pytest.raises(ValueError, match=message):
        is_projective(heads)


def test_refusals():
    parsing = ProjectiveParsing(2**10)
    with pytest.raises(ValueError, match="n_features must be a power of two, got 1000"):
        ProjectiveParsing(1000)
    with pytest.raises(ValueError, match="arcs of the tree \\[3, 4, 0, 3\\] cross: leave it out"):
        parsing.features(SENTENCE[:4], [3, 4, 0, 3])
    with pytest.raises(ValueError, match="one head for each word, got 1 heads for 5 words"):
        parsing.features(SENTENCE, [0])
    with pytest.raises(ValueError, match=r"a list of \(word, tag\) pairs of strings, got \['the', 'dog'\]"):
        parsing.argmax(["the", "dog"], np.zeros(2**10))
    with pytest.raises(ValueError, match=r"a list of \(word, tag\) pairs of strings, got \[\('a', 1\)\]"):
        parsing.argmax([("a", 1)], np.zeros(2**10))


@pytest.mark.parametrize(
    "scores", [np.zeros((0, 0)), np.zeros((4, 2)), np.zeros(3), np.array(1.0), np.full((2, 2), np.nan)]
)
def test_scores_must_be_a_square_matrix(scores):
    with pytest.raises(ValueError, match="scores must be a square matrix of finite numbers"):
        best_tree(scores)


@pytest.mark.parametrize("weights", [np.zeros(4), np.zeros(16, object), np.zeros((16, 1)), np.zeros(16, np.float32)])
def test_weights_must_be_those_of_the_features(weights):
    with pytest.raises(ValueError, match=r"weights must be an array of float64 of shape \(16,\)"):
        ProjectiveParsing(n_features=16).argmax([("a", "D"), ("b", "N")], weights)


def test_an_empty_sentence_has_an_empty_tree():
    parsing = ProjectiveParsing(2**10)
    assert parsing.argmax([], np.zeros(2**10)) == [] and parsing.features([], []).nnz == 0


@pytest.mark.parametrize("rule", ["perceptron", "margin", "pa1"])
def test_a_small_grammar_is_learned(rule):
    random = np.random.RandomState(0)
    words = {"D": ["the", "a"], "A": ["old", "big"], "N": ["dog", "cat", "man"], "V": ["sees", "likes"]}

    def phrase(first):  # determiner, adjectives, noun; heads within the sentence
        tags = ["D", *["A"] * random.randint(3), "N"]
        return tags, [first + len(tags) - 1] * (len(tags) - 1)

    X, Y = [], []
    for _ in range(120):
        subject, inner = phrase(1)
        verb = len(subject) + 1
        thing, others = phrase(verb + 1)
        tags = [*subject, "V", *thing]
        X.append([(random.choice(words[tag]), tag) for tag in tags])
        Y.append([*inner, verb, 0, *others, verb])
    model = StructuredPerceptron(ProjectiveParsing(2**16), rule=rule, random_state=0).fit(X[:100], Y[:100])
    assert model.converged_ and model.score(X[100:], Y[100:]) == 1.0 and model.n_search_errors_ == 0
