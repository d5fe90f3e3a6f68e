# Where logs are kept that are in folders for a time: below CASTILE_LOGS, in a folder that is called as the script and its folder are.
# A script sources this before it goes elsewhere.

kept_logs=
if [[ -n ${CASTILE_LOGS:-} ]]; then
    kept_logs=$(realpath -m "$CASTILE_LOGS")/$(basename "$(dirname "$(realpath "$0")")")-$(basename "$0")
    rm -rf "$kept_logs"
fi

# keep_logs FOLDER: keeps the logs in it, if they are asked for.
keep_logs() {
    [[ -n $kept_logs ]] || return 0
    mkdir -p "$kept_logs"
    # There may be none yet.
    cp "$1"/*.log "$kept_logs/" 2>/dev/null || true
}
