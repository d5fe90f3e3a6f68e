"""A program as a user would write it: a cargo project of its own in target/trials, outside of the workspace."""

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
    """The folder of a project with what is in a folder: `main.rs`, and perhaps `build.rs`."""
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
    # What Castile depends on is compiled there already, for its tests.
    environment = os.environ | {"CARGO_TARGET_DIR": str(TARGET)} | dict(environment)
    return subprocess.run(["cargo", *arguments], cwd=project, env=environment, **options)


def program(name):
    """Where cargo puts what it built of a project."""
    return TARGET / "debug" / name
