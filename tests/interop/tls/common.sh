# Shared code of the scripts beside this one: certificates made by OpenSSL, `castile serve`, and claims. A script that sources it
# sets `castile` first. It then runs in a temporary folder, whose logs are saved below CASTILE_LOGS, if that is set.

source "$(dirname "${BASH_SOURCE[0]}")/../certificates.sh"
source "$(dirname "${BASH_SOURCE[0]}")/../logs.sh"
folder=$(mktemp -d)
server=
trap end EXIT
cd "$folder"
# Clients that find a proxy in the environment would use it.
export NO_PROXY='*' no_proxy='*'

end() {
    [[ -z $server ]] || kill -KILL "$server" 2>/dev/null || true
    keep_logs "$folder"
    rm -rf "$folder"
}

fail() {
    echo "FAILED: $*" >&2
    tail -n 20 "$folder"/*.log >&2 || true
    exit 1
}

# expect CLAIM PATTERN COMMAND…: the output of the command must contain the pattern, whether or not the command succeeds.
expect() {
    local claim=$1 pattern=$2 printed
    shift 2
    printed=$(timeout "${limit:-60}" "$@" 2>&1 </dev/null || true)
    [[ $printed =~ $pattern ]] || fail "$claim: expected $pattern, found: $printed"
    echo "  $claim"
}

# serve OPTION…: sets port
serve() {
    # The port of the previous server must not be taken for that of this one.
    : >serve.log
    "$castile" serve --addr 127.0.0.1:0 --tls-cert server.pem --tls-key server.key "$@" >serve.log 2>serve-errors.log &
    server=$!
    local tries
    for tries in {1..1200}; do
        port=$(sed -n 's|^listening on https://127.0.0.1:\([0-9]*\)$|\1|p' serve.log)
        [[ -z $port ]] || return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    fail 'the server does not listen'
}

stop() {
    local status=0
    kill -TERM "$server"
    wait "$server" || status=$?
    server=
    # The next server writes to the same files.
    cat serve.log serve-errors.log >>served.log
    ((status == 0)) || fail "castile serve ended with $status on SIGTERM"
}
