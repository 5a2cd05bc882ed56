"""Templates: what they look like, their texts, and what they do to strings."""

import pickle
from copy import deepcopy

import naive_tokens as naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from token_cases import TEXTS

from perceptrons.data import DataError, column
from perceptrons.data.token.template_sets import SETS, resolve
from perceptrons.data.token.templates import PLAIN, SIZED, parse

word, pos = column("word"), column("pos")


@given(TEXTS)
def test_texts_are_templates_and_templates_texts(text):
    template = parse(text)
    assert str(template) == text and parse(f"  {text.replace('&', '  &')} ") == template
    assert hash(parse(text)) == hash(template)
    assert pickle.loads(pickle.dumps(template)) == deepcopy(template) == template


def test_templates_are_written_as_they_read():
    assert str(word[0].lower().suffix(3) & pos[+1]) == "word[0].lower().suffix(3) & pos[1]"
    assert list(map(str, word.window(-1, 1))) == ["word[-1]", "word[0]", "word[1]"]
    assert list(map(str, pos.ngrams(2, -1, 1))) == ["pos[-1] & pos[0]", "pos[0] & pos[1]"]
    assert pos.ngrams(4, -1, 1) == [] and repr(word[0]) == "<word[0]>"


@given(st.text(max_size=9), st.integers(1, 5))
def test_strings_are_changed_as_defined(string, size):
    for name, function in PLAIN.items():
        assert function(string) == naive.change(string, name, 0), name
    for name, sized in SIZED.items():
        assert sized(size)(string) == naive.change(string, name, size), name


def test_shapes():
    assert PLAIN["shape"]("McDonald's-2ß東٣") == "AaAaaaaa'a-9aa9"
    assert PLAIN["short_shape"]("McDonald's--2000") == "AaAa'a-9"


@pytest.mark.parametrize("name", SETS)
def test_ready_sets(name):
    assert resolve(name) == resolve(list(map(str, SETS[name]))) == SETS[name]
    columns = {part.view.column for template in SETS[name] for part in template.parts}
    assert columns == ({"word"} if name in ("pos", "ner-words") else {"word", "pos"})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: parse("word"), r"'word' is not a template: expected column\[offset\], such as .*\(3\)$"),
        (lambda: parse("word[0] & "), r"is not a template: .* got ''"),
        (lambda: parse("word[x]"), r"is not a template: [^']*$"),
        (lambda: parse("word[0] & word[x]"), r"is not a template: .* got 'word\[x\]'$"),
        (
            lambda: parse("U05:%x[-1,0]/%x[0,1]"),
            r"CRF\+\+ template: write word\[-1\] & pos\[0\], with the names",
        ),
        (lambda: parse("B"), r"is a CRF\+\+ template for pairs of labels: leave it out"),
        (lambda: resolve([word.window(0, 1)]), r"cannot be a list, got .*: unpack it"),
        (lambda: resolve([word]), r"got the column column\('word'\): write word\[0\] for its value"),
        (lambda: parse("word[0].suffix(0)"), r"suffix takes a number of characters, at least 1"),
        (lambda: parse("word[0].lower(2)"), r"lower takes no argument, got 2"),
        (lambda: parse("word[0].lwer()"), r"no function 'lwer': there are lower, shape"),
        (lambda: word[0].suffix(-1), r"suffix takes a number of characters, at least 1, got -1"),
        (lambda: (word[0] & pos[0]).lower(), r"lower changes a single part, got .*: call it before joining"),
        (lambda: word[1000], r"word\[1000\]: expected a whole number from -255 to 255"),
        (lambda: column("a b"), r"a column name must not contain blanks"),
        (lambda: pos.ngrams(0, -1, 1), r"n must be >= 1, got 0"),
        (
            lambda: resolve("chunks"),
            r"templates or one of chunking, pos, ner, ner-words, crf\+\+, got 'chunks'",
        ),
        (lambda: resolve([word[0], "word[0]"]), r"template word\[0\] is given twice"),
        (lambda: resolve([]), r"expected at least one template"),
        (lambda: resolve([5]), r"expected a template or its text, got 5"),
        (lambda: resolve(word), r"templates must be a list, got a single template: write \[word\[0\]\]"),
        (lambda: resolve(word[0]), r"templates must be a list, got a single template: write \[word\[0\]\]"),
    ],
)
def test_what_is_no_template_says_why(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_unknown_changes_are_told():
    with pytest.raises(AttributeError, match="a template has no 'lwer': its functions are lower, shape"):
        _ = word[0].lwer
