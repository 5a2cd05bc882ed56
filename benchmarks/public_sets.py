"""Public data sets that several benchmarks read, as training and held-out rows."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_svmlight_file, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

Split = tuple[sp.csr_array, np.ndarray, sp.csr_array, np.ndarray]  # training rows and labels, then held-out ones


def files(folder: Path, training: str, held_out: str, width: int) -> Split:
    """Two svmlight files."""
    X, y = load_svmlight_file(str(folder / training), n_features=width)
    X_test, y_test = load_svmlight_file(str(folder / held_out), n_features=width)
    return csr(X), y, csr(X_test), y_test


def a9a(folder: Path) -> Split:
    return files(folder / "a9a", "a9a", "a9a.t", 123)


def ijcnn1(folder: Path) -> Split:
    return files(folder / "ijcnn1", "ijcnn1.trn.bz2", "ijcnn1.tst.bz2", 22)


def letter(folder: Path) -> Split:
    return files(folder / "letter_scale", "letter.scale", "letter.scale.t", 16)


def mushroom(folder: Path) -> Split:
    return files(folder / "mushroom", "agaricus.txt.train", "agaricus.txt.test", 127)


def svmguide3(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_svmlight_file(str(folder / "svmguide3" / "svmguide3"))
    return X.toarray(), y


def mnist(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images and labels, test images and labels; pixels are between 0 and 1."""

    def read(name: str) -> np.ndarray:
        data = (folder / "mnist" / name).read_bytes()
        shape = np.frombuffer(data, dtype=">u4", count=data[3], offset=4)
        return np.frombuffer(data, dtype=np.uint8, offset=4 + 4 * len(shape)).reshape(shape[0], -1)

    parts = []
    for part in ("train", "t10k"):
        parts.append(read(f"{part}-images-idx3-ubyte") / np.float32(255))
        parts.append(read(f"{part}-labels-idx1-ubyte").ravel())
    return tuple(parts)  # type: ignore[return-value]


def covtype(folder: Path, rows: int = 200_000) -> Split:
    """Random rows of covtype as they are, two thirds for training."""
    table = pd.read_csv(folder / "covtype" / "covtype.csv.gz").sample(rows, random_state=0)
    return cut(table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].to_numpy())


def elec2(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Prices of electricity, in the order of time: do they rise? Numbers are between 0 and 1."""
    table = pd.read_csv(folder / "elec2" / "elec_6feat.csv")
    return table.iloc[:, :-1].to_numpy(float), table["class"].to_numpy()


def sms(folder: Path) -> Split:
    """Short messages, ham or spam; every fifth is held out."""
    lines = (folder / "sms_spam" / "SMSSpamCollection").read_text(encoding="utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines), strict=True)
    held_out = np.arange(len(lines)) % 5 == 0
    return words(np.array(texts, dtype=object), np.array(labels), held_out)


def news(folder: Path) -> Split:
    """20 newsgroups, split by date."""
    texts, labels, held_out = [], [], []
    with tarfile.open(folder / "newsgroups20" / "20news-bydate.tar.gz") as archive:
        for member in archive:
            if member.isfile():
                part, group, _ = member.name.rsplit("/", 2)
                texts.append(archive.extractfile(member).read().decode("latin-1"))  # type: ignore[union-attr]
                labels.append(group)
                held_out.append(part.endswith("test"))
    return words(np.array(texts, dtype=object), np.array(labels), np.array(held_out))


def wine() -> Split:
    return cut(*load_wine(return_X_y=True))


def breast_cancer() -> Split:
    return cut(*load_breast_cancer(return_X_y=True))


def words(texts: np.ndarray, labels: np.ndarray, held_out: np.ndarray) -> Split:
    """tf-idf of words: rows of length 1."""
    vectorizer = TfidfVectorizer()
    X = csr(vectorizer.fit_transform(texts[~held_out]))
    return X, labels[~held_out], csr(vectorizer.transform(texts[held_out])), labels[held_out]


def cut(X: np.ndarray, y: np.ndarray) -> Split:
    """Hold out a random third of each class."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)
    return csr(X), y, csr(X_test), y_test


def standardised(split: Split) -> Split:
    """The same with mean 0 and spread 1 of each feature in training."""
    X, y, X_test, y_test = split
    scaler = StandardScaler().fit(X.toarray())
    return csr(scaler.transform(X.toarray())), y, csr(scaler.transform(X_test.toarray())), y_test


def flipped(split: Split, share: float = 0.15) -> Split:
    """The same with a share of the training labels, of two classes, turned into the other."""
    X, y, X_test, y_test = split
    low, high = np.unique(y)
    turned = np.random.default_rng(0).random(len(y)) < share
    return X, np.where(turned, low + high - y, y), X_test, y_test


def csr(X) -> sp.csr_array:
    """A CSR array of float64 with 32-bit indices: one type for all sets, so that passes are compiled once."""
    X = sp.csr_array(X, dtype=np.float64)
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
