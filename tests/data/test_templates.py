"""Templates: what they look like, their texts, and what they do to strings."""

import pickle
from copy import deepcopy

import naive_tokens as naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from token_cases import TEXTS

from perceptrons.data import DataError, column
from perceptrons.data.token.templates import PLAIN, SETS, SIZED, parse, resolve

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
    assert columns == ({"word"} if name == "pos" else {"word", "pos"})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: parse("word"), r"'word' is no template: expected column\[offset\], such as .*\(3\)$"),
        (lambda: parse("word[0] & "), r"is no template: .* got ''"),
        (lambda: parse("word[x]"), r"is no template: [^']*$"),
        (lambda: parse("word[0] & word[x]"), r"is no template: .* got 'word\[x\]'$"),
        (lambda: parse("U05:%x[-1,0]/%x[0,1]"), r"of CRF\+\+: write word\[-1\] & pos\[0\], with the names of your"),
        (lambda: parse("B"), r"of CRF\+\+ for pairs of labels: leave it out"),
        (lambda: resolve([word.window(0, 1)]), r"not be a list, got .*: unpack it with \*"),
        (lambda: resolve([word]), r"got one: column\('word'\); write word\[0\] for its value"),
        (lambda: parse("word[0].suffix(0)"), r"suffix takes a number of characters, at least 1"),
        (lambda: parse("word[0].lower(2)"), r"lower takes nothing, got 2"),
        (lambda: parse("word[0].lwer()"), r"there is no 'lwer', but lower, shape"),
        (lambda: word[0].suffix(-1), r"suffix takes a number of characters, at least 1, got -1"),
        (lambda: (word[0] & pos[0]).lower(), r"lower changes one part: put it before the &"),
        (lambda: word[1000], r"word\[1000\]: expected a whole number from -255 to 255"),
        (lambda: column("a b"), r"a column's name has neither blanks nor any of"),
        (lambda: pos.ngrams(0, -1, 1), r"ngrams takes n of at least 1, got 0"),
        (lambda: resolve("chunks"), r"a list of templates or one of chunking, pos, ner, crf\+\+, got 'chunks'"),
        (lambda: resolve([word[0], "word[0]"]), r"the template word\[0\] is given twice"),
        (lambda: resolve([]), r"there must be at least one template"),
        (lambda: resolve([5]), r"a template must be made of columns or given as text, got 5"),
        (lambda: resolve(word), r"templates must be a list, got a single one: \[word\[0\]\]"),
        (lambda: resolve(word[0]), r"templates must be a list, got a single one: \[word\[0\]\]"),
    ],
)
def test_what_is_no_template_says_why(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_unknown_changes_are_told():
    with pytest.raises(AttributeError, match="a template has no 'lwer': it has lower, shape"):
        _ = word[0].lwer
