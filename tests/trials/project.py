"""A program as a user would write it: a separate cargo project in target/trials, outside of the workspace."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()

MANIFEST = """\
[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[workspace]

[dependencies]
castile = {{ path = "{root}/crates/castile" }}
tokio = {{ version = "1", features = ["full"] }}

[build-dependencies]
castile-codegen = {{ path = "{root}/crates/codegen" }}
"""


def make(name, sources):
    """Makes a project from a folder: `main.rs`, and a `build.rs` if there is one. Returns its folder."""
    project = TARGET / "trials" / name
    shutil.rmtree(project, ignore_errors=True)
    (project / "src").mkdir(parents=True)
    (project / "Cargo.toml").write_text(MANIFEST.format(name=name, root=ROOT))
    shutil.copy(ROOT / "Cargo.lock", project / "Cargo.lock")
    shutil.copy(sources / "main.rs", project / "src/main.rs")
    if (sources / "build.rs").exists():
        shutil.copy(sources / "build.rs", project / "build.rs")
    return project


def cargo(project, *arguments, environment=(), **options):
    """Runs cargo in the folder of a project."""
    # Castile's dependencies are already compiled there, for its tests.
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET)} | dict(environment)
    return subprocess.run(["cargo", *arguments], cwd=project, env=environment, **options)


def program(name):
    """Returns the path of the program that cargo built from a project."""
    return TARGET / "debug" / name
