# Saves logs that are in temporary folders: below CASTILE_LOGS, in a folder named after the script and its folder. A script must
# source this before it changes its directory.

kept_logs=
if [[ -n ${CASTILE_LOGS:-} ]]; then
    kept_logs=$(realpath -m "$CASTILE_LOGS")/$(basename "$(dirname "$(realpath "$0")")")-$(basename "$0")
    rm -rf "$kept_logs"
fi

# keep_logs FOLDER: saves the logs in it, if CASTILE_LOGS is set.
keep_logs() {
    [[ -n $kept_logs ]] || return 0
    mkdir -p "$kept_logs"
    # There may be none yet.
    cp "$1"/*.log "$kept_logs/" 2>/dev/null || true
}
