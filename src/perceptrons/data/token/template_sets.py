"""Ready-made sets of templates, and lists of templates that users give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from perceptrons.data.files import DataError
from perceptrons.data.token.templates import Template, column, parse

MOST = 10_000  # templates


def _crfpp() -> list[Template]:
    word, pos = column("word"), column("pos")
    tags = [template for n in (1, 2, 3) for template in pos.ngrams(n, -2, 2)]
    return [*word.window(-2, 2), word[-1] & word[0], word[0] & word[1], *tags]


def _chunking() -> list[Template]:
    word, pos = column("word"), column("pos")
    before, here, after = (word[at].lower() for at in (-1, 0, 1))
    affixes = [*(here.prefix(n) for n in range(1, 4)), *(here.suffix(n) for n in range(1, 5))]
    mixed = [here & pos[-1], here & pos[0], here & pos[1], before & pos[0], after & pos[0]]
    return [*_crfpp(), before, here, after, word[0].shape(), *affixes, *mixed]


def _pos() -> list[Template]:
    word = column("word")
    far, before, here, after, further = (word[at].lower() for at in range(-2, 3))
    looks = [word[0], *(getattr(word[0], look)() for look in ("shape", "has_digit", "has_hyphen", "is_title"))]
    shapes = [word[at].short_shape() for at in (-1, 0, 1)]
    affixes = [*(here.prefix(n) for n in range(1, 6)), *(here.suffix(n) for n in range(1, 7))]
    endings = [around.suffix(n) for around in (before, after) for n in (2, 3)]
    pairs = [before & here, here & after, before & after, far & before, after & further]
    mixed = [here.suffix(3) & before, here.suffix(3) & after]
    mixed += [here.suffix(2) & around.suffix(2) for around in (before, after)]
    shape_pairs = [shapes[0] & shapes[1], shapes[1] & shapes[2]]
    return [far, before, here, after, further, *looks, *shapes, *affixes, *endings, *pairs, *mixed, *shape_pairs]


def _ner() -> list[Template]:
    word = column("word")
    before, here, after = (word[at].lower() for at in (-1, 0, 1))
    affixes = [change(n) for change in (here.prefix, here.suffix) for n in range(1, 5)]
    shapes = [word[at].short_shape() for at in (-1, 0, 1)]
    shapes += [word[at].shape() for at in (-1, 0, 1)] + [shapes[0] & shapes[1], shapes[1] & shapes[2]]
    pairs = [before & here, here & after, before & after]
    return [*word.window(-2, 2), before, here, after, *pairs, *affixes, *shapes]


def _ner_with_tags() -> list[Template]:
    pos = column("pos")
    return [*_ner(), *pos.window(-2, 2), *pos.ngrams(2, -2, 2)]


# Sets by task, and the one of the chunking example of CRF++. They use the columns word and pos; "pos" and "ner-words"
# only word.
SETS: dict[str, list[Template]] = {
    "chunking": _chunking(),
    "pos": _pos(),
    "ner": _ner_with_tags(),
    "ner-words": _ner(),
    "crf++": _crfpp(),
}


def suited(features: Any, there: Iterable[str]) -> Any:
    """Choose "ner-words" for "ner" if the column pos is not there; other features stay.

    >>> suited("ner", ["word", "pos"]), suited("ner", ["word"]), suited("chunking", ["word"])
    ('ner', 'ner-words', 'chunking')
    """
    return "ner-words" if isinstance(features, str) and features == "ner" and "pos" not in there else features


def columns_of(features: str | Iterable[Any]) -> list[str]:
    """The columns that templates use.

    >>> columns_of("ner"), columns_of("ner-words")
    (['word', 'pos'], ['word'])
    """
    return list(dict.fromkeys(part.view.column for template in resolve(features) for part in template.parts))


def resolve(features: str | Iterable[Any]) -> list[Template]:
    """Check a list of templates, or look up a ready-made set.

    Parameters
    ----------
    features : str or list
        The name of a set, or templates or their texts.

    Returns
    -------
    list of Template
        All different.
    """
    if isinstance(features, Template | column):
        one = features if isinstance(features, Template) else features[0]
        raise DataError(f"templates must be a list, got a single template: write [{one}]")
    if isinstance(features, str):
        if features not in SETS:
            raise DataError(f"features must be a list of templates or one of {', '.join(SETS)}, got {features!r}")
        return list(SETS[features])
    found = []
    for each in features:
        if isinstance(each, list | tuple) and each and all(isinstance(one, Template) for one in each):
            raise DataError(f"a template cannot be a list, got {each!r:.60}: unpack it, as in [*word.window(-2, 2)]")
        if isinstance(each, column):
            raise DataError(f"expected a template, got the column {each!r}: write {each.name}[0] for its value")
        if not isinstance(each, str | Template):
            raise DataError(f"expected a template or its text, got {each!r}")
        found.append(parse(each) if isinstance(each, str) else each)
    if not found:
        raise DataError("expected at least one template, got none")
    if len(found) > MOST:
        raise DataError(f"there are {len(found):,} templates, expected at most {MOST:,}")
    twice = [template for template, n in Counter(found).items() if n > 1]
    if twice:
        raise DataError(f"template {twice[0]} is given twice: remove one")
    return found
