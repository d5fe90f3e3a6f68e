"""Finds the corpus."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
FETCHED = HERE / "files"
FOLDERS = ("conformance", "suites", "wellknown", "wsdl")


def find():
    """Returns the folder of the corpus, like `crates/corpus`: the one that CASTILE_CORPUS_DIR names, the fetched one, or the one
    beside the project. If none exists, returns the folder that would be fetched."""
    named = os.environ.get("CASTILE_CORPUS_DIR")
    candidates = [Path(named)] if named else []
    candidates += [FETCHED, HERE.parents[2] / "shared/corpus"]
    return next((folder for folder in candidates if any((folder / name).is_dir() for name in FOLDERS)), FETCHED)


def find_vsphere():
    """Returns VMware's contract, if it was fetched or is beside the project."""
    named = os.environ.get("CASTILE_CORPUS_DIR", FETCHED)
    folders = [Path(named) / "vsphere", FETCHED / "vsphere", HERE.parents[2] / "shared/vsphere"]
    return next((folder / "vimService.wsdl" for folder in folders if (folder / "vimService.wsdl").is_file()), None)
