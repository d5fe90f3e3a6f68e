# What the builds and starts of Java's engines have in common; read in by them, in the peer's own directory.
#
#     libraries           those of pom.xml, into target/lib
#     tool CLASS ARG…     runs a program of the libraries
#     schema SUITE        the schema of a contract, into target/SUITE.xsd
#     quakes              what the seismic service knows, into target/quakes.txt
#     compile FILE…       these sources and what is in target/generated, into target/classes
#     serve CLASS ARG…    becomes the server
set -eu
cd "$(dirname "$0")"
contracts=../../crates/suites/contracts

needs() {
    for program; do
        command -v "$program" >/dev/null || {
            echo "$program is missing: apt-get install default-jdk-headless maven" >&2
            exit 1
        }
    done
}

libraries() {
    needs javac mvn
    rm -rf target/generated target/classes
    mkdir -p target/generated target/classes
    # What was resolved once needs no network.
    if ! cmp -s pom.xml target/pom.xml; then
        rm -rf target/lib
        mvn --quiet --batch-mode -Dstyle.color=never --file pom.xml \
            org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory="$PWD/target/lib"
        cp pom.xml target/pom.xml
    fi
}

tool() {
    java -XX:TieredStopAtLevel=1 -cp 'target/classes:target/lib/*' "$@"
}

# For tools that read schemas, not contracts.
schema() {
    sed -n '/<xs:schema/,/<\/xs:schema>/p' "$contracts/$1.wsdl" | sed \
        's|<xs:schema targetNamespace="\([^"]*\)"|<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:tns="\1" xmlns:q="\1" targetNamespace="\1"|' \
        >"target/$1.xsd"
}

# Castile makes the quakes up; `castile peers build` says where it is.
quakes() {
    if [ -n "${CASTILE:-}" ]; then
        "$CASTILE" quakes >target/quakes.txt
    else
        cargo run --quiet --release --package castile-cli -- quakes >target/quakes.txt
    fi
}

compile() {
    find target/generated -name '*.java' >target/generated.txt
    javac -nowarn -proc:none -Xlint:none -encoding UTF-8 -cp 'target/lib/*' -d target/classes "$@" @target/generated.txt
}

# A heap of one size for all, so that none gains by having more. The collector is the one that Java chooses for the cores that it
# is given: of one, the serial one.
serve() {
    needs java
    [ -d target/classes ] || {
        echo "this peer is not built: $PWD/build" >&2
        exit 1
    }
    exec java -Xms512m -Xmx512m -Duser.timezone=UTC -cp 'target/classes:target/lib/*' "$@"
}
