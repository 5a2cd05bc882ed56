"""Slow, plain-Python twins: files of tokens, features by templates, features by name. Written from the definitions."""

import re

DIGITS = {chr(c) for c in range(0x110000) if chr(c).isdecimal()}


class Refused(Exception):
    """A line that is no token; args: its number and what is wrong with it."""


def read(content, names, separator=None, conllu=False, more=False):
    """Sentences of a file as lists of tuples of strings."""
    if content.startswith(b"\xef\xbb\xbf"):
        content = content[3:]
    sentences, sentence, columns = [], [], None
    for number, line in enumerate(content.split(b"\n"), start=1):
        if line.endswith(b"\r"):
            line = line[:-1]
        fields = [f for f in re.split(rb"[ \t]+", line) if f] if separator is None else line.split(separator)
        first = re.split(rb"[ \t]|" + re.escape(separator or b" "), line if separator else line.lstrip(b" \t"))[0]
        if not line.strip(b" \t") or (not conllu and first == b"-DOCSTART-"):
            sentences.append(sentence)
            sentence = []
        elif conllu and (line.startswith(b"#") or re.fullmatch(rb"[0-9]+[-.][0-9]+", fields[0])):
            if len(fields) > 1 or line.startswith(b"#"):
                continue
            raise Refused(number, f"1 column, expected {len(names)}")
        elif conllu and len(fields) > 1 and re.fullmatch(rb"[0-9]*", fields[0]) is None:
            raise Refused(number, f"id {fields[0].decode()!r} is not a number, range (3-4) or empty node (5.1)")
        else:
            wrong = [k for k, field in enumerate(fields[: len(names)]) if not field]
            if wrong:
                raise Refused(number, f"column {wrong[0] + 1} ({names[wrong[0]]}) is empty")
            if len(fields) < len(names) or (len(fields) > len(names) and not more):
                raise Refused(number, f"{len(fields)} column{'s' * (len(fields) > 1)}, expected {len(names)}")
            columns = columns or len(fields)
            if len(fields) != columns:
                raise Refused(number, f"{len(fields)} column{'s' * (len(fields) > 1)}, expected {columns} as before")
            sentence.append(tuple(field.decode() for field in fields[: len(names)]))
    return [each for each in [*sentences, sentence] if each]


def shape(word):
    return "".join("A" if c.isupper() else "a" if c.isalpha() else "9" if c in DIGITS else c for c in word)


def short_shape(word):
    full = shape(word)
    return "".join(c for i, c in enumerate(full) if i == 0 or full[i - 1] != c)


def yes(truth):
    return "yes" if truth else "no"


def change(value, name, size):
    if name == "prefix":
        return "".join(c for i, c in enumerate(value) if i < size)
    if name == "suffix":
        return "".join(c for i, c in enumerate(value) if i >= len(value) - size)
    return {
        "lower": lambda: value.lower(),
        "shape": lambda: shape(value),
        "short_shape": lambda: short_shape(value),
        "digits": lambda: "".join("0" if c in DIGITS else c for c in value),
        "has_digit": lambda: yes(any(c in DIGITS for c in value)),
        "has_hyphen": lambda: yes("-" in value),
        "has_upper": lambda: yes(value.lower() != value),
        "is_title": lambda: yes(value != "" and value[0].isupper()),
        "is_caps": lambda: yes(value.isupper()),
    }[name]()


def part(text, sentence, i, names):
    """The value of a part such as word[-1].lower() at token i."""
    head, *calls = re.split(r"\.(?=[a-z_]+\()", text)
    column, offset = re.fullmatch(r"(.+)\[(.+)\]", head).groups()
    j = i + int(offset)
    if j < 0:
        return f"_B{j}"
    if j >= len(sentence):
        return f"_B+{j - len(sentence) + 1}"
    value = sentence[j][names.index(column)]
    for call in calls:
        name, size = re.fullmatch(r"(.+)\((.*)\)", call).groups()
        value = change(value, name, int(size or 0))
    return value


def features(sentences, names, templates):
    """Names of the features of each token, by templates given as text."""
    return [
        [
            [f"{t}={'|'.join(part(p.strip(), sentence, i, names) for p in t.split('&'))}" for t in templates]
            for i in range(len(sentence))
        ]
        for sentence in sentences
    ]


def numbered(tokens, known, grow):
    """Numbers of named features, by first occurrence; `known` is updated. Unknown ones are left out."""
    rows = []
    for names in tokens:
        if grow:
            for name in names:
                known.setdefault(name, len(known))
        rows.append([known[name] for name in names if name in known])
    return rows


def items(token):
    """Names and values of the features of a token that is a dict, a list or a set."""
    if not isinstance(token, dict):
        return [(name, 1.0) for name in (sorted(token) if isinstance(token, set) else token)]
    found = []
    for key, value in token.items():
        if isinstance(value, str):
            found.append((f"{key}:{value}", 1.0))
        elif isinstance(value, bool | int | float):
            found += [(key, float(value))] if value else []
        else:
            found += [(f"{key}:{name}", x) for name, x in items(value)]
    return found
