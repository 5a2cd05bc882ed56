"""Model files: saved without code, loaded without executing any; and export to ONNX."""

from perceptrons.store.estimators import load, save
from perceptrons.store.format import ModelFileError
from perceptrons.store.onnx import export_onnx
from perceptrons.store.saved import Saved, read, write

__all__ = ["ModelFileError", "Saved", "export_onnx", "load", "read", "save", "write"]
