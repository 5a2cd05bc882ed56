"""Malformed CoNLL files: sentences and errors as the slow twin has them, also of shards."""

import naive_tokens as naive
from damage import damaged, written

from perceptrons import SequenceTagger
from perceptrons.data import DataError, read_conll
from perceptrons.data.token.conll import CONLLU
from perceptrons.data.token.conll_shards import conll_shards

TOKENS = [b"a", b"b2", b"\xc3\xa4", b"-DOCSTART-", b"#", b"# text", b"1", b"2-3", b"4.1", b"\0", b"_", b"\xff", b"\x0b"]
SPACES = [b" ", b" ", b"\t", b"\t", b"  ", b"\n", b"\n", b"\n\n", b"\r\n", b"\r", b""]
NAMES = ["word", "pos", "chunk"]


def case(random, folder):
    conllu = random.random() < 0.3
    content = b"".join(
        TOKENS[random.integers(len(TOKENS))] + SPACES[random.integers(len(SPACES))]
        for _ in range(random.integers(0, 30))
    )
    if random.random() < 0.6:
        row = b"1\tthe\t" + b"\t".join([b"_"] * 8) + b"\n" if conllu else b"the D B\ncat N I\n\n"
        content = row * int(random.integers(1, 4)) + (content if random.random() < 0.5 else b"")
    content = damaged(random, content, 0.5)
    names = list(CONLLU) if conllu else NAMES[: random.integers(1, 4)]
    more, separator = random.random() < 0.3, [None, "\t", " ", ","][random.integers(4)]
    settings = {"conllu": True, "more": more} if conllu else {"more": more, "separator": separator}
    path = written(random, folder / "a.txt", content)
    if path.suffix != ".txt" or random.random() < 0.1:
        tokens = read_conll(path, None, **settings)
        assert tokens.n_tokens == sum(map(len, tokens.lists(next(iter(tokens.columns)))))
        return
    mark = b"\t" if conllu else separator and separator.encode()
    try:
        expected = naive.read(content, names, mark, conllu, more)
    except naive.Refused as refused:
        expected = f"{path}:{refused.args[0]}: "
    except UnicodeDecodeError:
        expected = f"{path}:"
    try:
        tokens = read_conll(path, None if conllu else names, **settings)
    except DataError as error:
        assert isinstance(expected, str) and str(error).startswith(expected), (error, expected)
        return
    assert sentences(tokens) == expected
    shards = conll_shards(path, None if conllu else names, **settings, n=int(random.integers(1, 5)))
    assert [sentence for shard in shards for sentence in sentences(shard.read())] == expected
    if random.random() < 0.03 and names == NAMES and tokens.n_sequences > 1:
        SequenceTagger(features="chunking", max_iter=1).fit(tokens, tokens.lists("chunk"))


def sentences(tokens):
    columns = [tokens.lists(name) for name in tokens.columns]
    return [list(zip(*each, strict=True)) for each in zip(*columns, strict=True)]
