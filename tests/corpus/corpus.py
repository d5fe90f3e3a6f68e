"""Where the corpus is."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent
FETCHED = HERE / "files"
FOLDERS = ("conformance", "suites", "wellknown", "wsdl")


def find():
    """The folder of the corpus, as `crates/corpus` finds it: the one that CASTILE_CORPUS_DIR names, that was fetched, or that stands
    beside the project. If there is none, the one that would be fetched."""
    named = os.environ.get("CASTILE_CORPUS_DIR")
    candidates = [Path(named)] if named else []
    candidates += [FETCHED, HERE.parents[2] / "shared/corpus"]
    return next((folder for folder in candidates if any((folder / name).is_dir() for name in FOLDERS)), FETCHED)


def find_vsphere():
    """VMware's contract, where it was fetched or stands beside the project."""
    named = os.environ.get("CASTILE_CORPUS_DIR", FETCHED)
    folders = [Path(named) / "vsphere", FETCHED / "vsphere", HERE.parents[2] / "shared/vsphere"]
    return next((folder / "vimService.wsdl" for folder in folders if (folder / "vimService.wsdl").is_file()), None)
