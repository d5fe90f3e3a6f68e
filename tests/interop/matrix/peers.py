"""The peers: how each is set up, served and called. Everything is installed into target/interop."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import wsdl
from ports import free_port

ROOT = HERE.parents[2]
CARGO_TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
TARGET = CARGO_TARGET / "interop"
# Java may take long on a busy machine.
SECONDS_TO_START = 180


class Peer:
    """An engine with a client, a server or both."""

    has_client = has_server = True

    @property
    def name(self):
        return type(self).__name__.lower()

    @property
    def sources(self):
        return HERE / "peers" / self.name

    @property
    def folder(self):
        return TARGET / self.name

    def set_up(self):
        """Installs what is missing."""

    def version(self):
        raise NotImplementedError

    def path(self, contract, version):
        """Returns the path at which a server has a port."""
        return contract

    def call(self, plan):
        """Returns the command that calls what a plan lists."""
        raise NotImplementedError

    def server(self, port, contracts):
        """Returns the command that serves the contracts of a folder. It prints a line with `listening` when it is ready."""
        raise NotImplementedError

    @contextlib.contextmanager
    def serve(self, work, contracts):
        """Serves until the block is left. Yields the address."""
        log = work / "server.log"
        for _ in range(3):
            port = free_port()
            with open(log, "w") as out:
                process = subprocess.Popen(
                    self.server(port, contracts), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                    env={**os.environ, "INTEROP_STATE": str(work), "INTEROP_CONTRACTS": str(contracts)},
                )
            try:
                if await_line(process, log):
                    found = re.search(r"listening on (http:\S+)", log.read_text(errors="replace"))
                    yield found[1] if found else f"http://127.0.0.1:{port}"
                    return
            finally:
                process.kill()
                process.wait()
        sys.exit(f"the server of {self.name} did not start; {log} holds:\n{log.read_text(errors='replace')[-2000:]}")


class Castile(Peer):
    def set_up(self):
        run(["cargo", "build", "--quiet", "--workspace", "--bin", "castile-interop"], cwd=ROOT)

    def version(self):
        return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]

    def call(self, plan):
        return [CARGO_TARGET / "debug/castile-interop", "call", plan]

    def server(self, port, contracts):
        return [CARGO_TARGET / "debug/castile-interop", "serve"]


class Php(Peer):
    def set_up(self):
        if "soap" not in output(["php", "-m"]).split():
            sys.exit("PHP or its extension soap is missing: apt-get install php-cli php-soap")

    def version(self):
        # The packager's suffix of the version differs between machines.
        return "PHP " + output(["php", "-r", 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;'])

    def call(self, plan):
        return ["php", *PHP_OPTIONS, self.sources / "client.php", plan]

    def server(self, port, contracts):
        return ["php", *PHP_OPTIONS, "-S", f"127.0.0.1:{port}", self.sources / "server.php"]


PHP_OPTIONS = ["-d", "serialize_precision=-1", "-d", "precision=17", "-d", "display_errors=stderr", "-d", "memory_limit=1G"]


class Zeep(Peer):
    has_server = False

    @property
    def python(self):
        return CARGO_TARGET / "interop-venv/bin/python"

    def set_up(self):
        requirements = HERE.parent / "zeep/requirements.txt"
        mark = CARGO_TARGET / "interop-venv/requirements.txt"
        if not same(requirements, mark):
            shutil.rmtree(mark.parent, ignore_errors=True)
            run([sys.executable, "-m", "venv", mark.parent])
            run([self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements])
            shutil.copy(requirements, mark)

    def version(self):
        return "zeep " + output([self.python, "-c", "import zeep; print(zeep.__version__)"])

    def call(self, plan):
        return [self.python, self.sources / "client.py", plan]


class Node(Peer):
    def set_up(self):
        for name in ("package.json", "package-lock.json"):
            if not same(self.sources / name, self.folder / name):
                self.folder.mkdir(parents=True, exist_ok=True)
                for file in ("package.json", "package-lock.json"):
                    shutil.copy(self.sources / file, self.folder)
                run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=self.folder)
        for script in self.sources.glob("*.js"):
            shutil.copy(script, self.folder)

    def version(self):
        return "soap " + json.loads((self.folder / "node_modules/soap/package.json").read_text())["version"]

    def call(self, plan):
        return ["node", self.folder / "client.js", plan]

    def server(self, port, contracts):
        return ["node", self.folder / "server.js", str(port), contracts]


class Java(Peer):
    """Shared code of the Java engines: libraries from Maven, classes generated from the contracts, and programs."""

    # The contracts that its tool accepts.
    contracts = tuple(wsdl.CONTRACTS)

    def set_up(self):
        sources = [*self.sources.glob("*.java"), *(HERE / "peers/java").glob("*.java")]
        mark = self.folder / "made-from"
        inputs = [*sources, self.sources / "pom.xml", *sorted(wsdl.FOLDER.iterdir()), HERE / "wsdl.py", HERE / "peers.py"]
        made_from = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(inputs))).hexdigest()
        if mark.exists() and mark.read_text() == made_from:
            return
        for folder in ("generated", "classes"):
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        self.libraries()
        for contract in self.contracts:
            self.generate(contract, self.folder / "generated")
        self.compile(self.folder / "classes", *sources, *(self.folder / "generated").rglob("*.java"))
        mark.write_text(made_from)

    def libraries(self):
        """Copies the libraries that pom.xml names, once."""
        # The copy of pom.xml is made last, as the mark of a complete folder.
        resolved = self.folder / "pom.xml"
        if same(self.sources / "pom.xml", resolved):
            return
        shutil.rmtree(self.folder / "lib", ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        run(["mvn", "--quiet", "--batch-mode", "--file", self.sources / "pom.xml", "dependency:copy-dependencies",
             f"-DoutputDirectory={self.folder / 'lib'}"])
        shutil.copy(self.sources / "pom.xml", resolved)

    def compile(self, classes, *sources):
        """Compiles with the peer's libraries."""
        run(["javac", "-nowarn", "-proc:none", "-Xlint:none", "-XDsuppressNotes", "-encoding", "UTF-8", "-cp", f"{self.folder / 'lib'}/*", "-d", classes, *sources])

    def java(self, *arguments):
        return self.java_of(self.folder / "classes", *arguments)

    def java_of(self, classes, *arguments):
        """Returns the command for Java with the peer's libraries and these classes."""
        # The processes are short: the first tier of compilation is enough and starts twice as fast.
        quick = ["-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:+UseSerialGC"]
        path = f"{classes}{os.pathsep}{self.folder / 'lib'}/*"
        return ["java", *quick, "-Duser.timezone=UTC", "-cp", path, *map(str, arguments)]

    def release(self, name):
        """Returns the version of a library."""
        return next((self.folder / "lib").glob(f"{name}-[0-9]*.jar")).stem.removeprefix(f"{name}-")

    def call(self, plan):
        return self.java(f"castile.interop.{self.name.title()}Client", plan)

    def server(self, port, contracts):
        return self.java(f"castile.interop.{self.name.title()}Server", port, contracts)


class Cxf(Java):
    contracts = ("wrapped", "bare", "rpc", "mtom", "swa", "addressing")

    def generate(self, contract, folder):
        # Header blocks that only the binding names become parameters, as the tool's documentation says.
        run(self.java("org.apache.cxf.tools.wsdlto.WSDLToJava", "-exsh", "true", "-p", f"castile.interop.{contract}", "-d", folder,
                      wsdl.FOLDER / f"{contract}.wsdl"))

    def version(self):
        return "CXF " + self.release("cxf-rt-frontend-jaxws")

    def path(self, contract, version):
        return f"{contract}{version}"


class Axis(Java):
    contracts = ("wrapped", "bare", "rpc", "encoded", "swa")

    def generate(self, contract, folder):
        # WSDL2Java fails on a binding for SOAP 1.2.
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{contract}.wsdl"
        file.write_text(wsdl.contract(contract, wsdl.operations(contract), ("11",)))
        run(self.java("org.apache.axis.wsdl.WSDL2Java", "--server-side", "-p", f"castile.interop.{contract}", "-o", folder, file))

    def version(self):
        return "Axis " + self.release("axis")

    def path(self, contract, version):
        # One port serves both versions.
        return f"axis/services/{contract.title()}11"

    def server(self, port, contracts):
        return super().server(port, self.folder / "generated")


# Pairs of peers that also call each other, with the contracts whose style both support well: client, server, contracts.
CROSS = {
    ("zeep", "cxf"): ("addressing",),
    ("axis", "cxf"): ("swa",),
    ("cxf", "axis"): ("swa",),
    ("axis", "php"): ("encoded",),
    ("php", "axis"): ("encoded",),
}
NAMES = ["php", "zeep", "node", "cxf", "axis"]


def make(name):
    found = {kind.__name__.lower(): kind for kind in [*Peer.__subclasses__(), *Java.__subclasses__()]}.get(name)
    return found() if found else sys.exit(f"no peer is called {name}, only {', '.join(NAMES)}")


def await_line(process, log):
    """Waits until the server has printed that it listens. Returns False if it ends before, or when the time is up."""
    end = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < end and process.poll() is None:
        text = log.read_text(errors="replace")
        if "listening" in text or re.search(r"Development Server .* started", text):
            return True
        time.sleep(0.05)
    return False


def same(one, other):
    return other.exists() and one.read_bytes() == other.read_bytes()


def run(command, **options):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:6]))} … ended with {done.returncode}")


def output(command):
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.strip()
    except FileNotFoundError:
        return ""
