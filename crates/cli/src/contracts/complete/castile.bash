
# A path may have attributes: `order.@id` is one word.
COMP_WORDBREAKS=${COMP_WORDBREAKS//@/}

# Operations and paths of values come from the contract that was named.
_castile_of_contract() {
    _castile "$@"
    local word=${COMP_WORDS[COMP_CWORD]} line=${COMP_LINE:0:COMP_POINT}
    [[ ${COMP_WORDS[1]} == call || ${COMP_WORDS[1]} == sample ]] || return 0
    # Bash splits at `=`, `:` and `@`, which stand within words here.
    local -a words
    read -r -a words <<< "$line"
    [[ $line == *' ' ]] && words+=('')
    local typed=${words[-1]} candidate
    local skipped=${typed%"$word"}
    local -a found
    while IFS= read -r candidate; do
        # It comes from a contract: nothing in it is for the shell.
        printf -v candidate %q "${candidate#"$skipped"}"
        found+=("$candidate")
    done < <(castile complete -- "${words[@]:1}" 2> /dev/null)
    ((${#found[@]})) || return 0
    COMPREPLY=("${found[@]}")
    # A path goes on behind its last name.
    [[ ${COMPREPLY[*]} == *[=.]* ]] && compopt -o nospace
    return 0
}
complete -F _castile_of_contract -o bashdefault -o default castile
