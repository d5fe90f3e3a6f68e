"""Finds the corpus, and what is in it."""

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


def families(part=None):
    """Returns the folder of each family of contracts: those of the corpus, the tests of other toolkits, and one with messages beside
    contracts. With a part `N/M`, one in M of them."""
    corpus = find()
    found = {folder.name: folder for folder in sorted((corpus / "wsdl").iterdir()) if folder.is_dir()}
    found |= {f"suite:{folder.name}": folder for folder in sorted((corpus / "suites").iterdir()) if folder.is_dir()}
    found["node-soap-samples"] = corpus / "conformance/soap/node-soap-samples/test/request-response-samples"
    number, parts = map(int, part.split("/")) if part else (0, 1)
    return {name: folder for index, (name, folder) in enumerate(found.items()) if index % parts == number % parts}


def project_of(family):
    """Returns the name of a family's folder in target/contracts."""
    return family.replace(":", "-")


def find_vsphere():
    """Returns VMware's contract, if it was fetched or is beside the project."""
    named = os.environ.get("CASTILE_CORPUS_DIR", FETCHED)
    folders = [Path(named) / "vsphere", FETCHED / "vsphere", HERE.parents[2] / "shared/vsphere"]
    return next((folder / "vimService.wsdl" for folder in folders if (folder / "vimService.wsdl").is_file()), None)
