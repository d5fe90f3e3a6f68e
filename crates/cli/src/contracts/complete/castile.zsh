
# Operations and paths of values come from the contract that was named.
_castile_of_contract() {
    if [[ $words[2] == (call|sample) && $PREFIX != -* ]]; then
        local -a found operations paths
        found=("${(@f)$(castile complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
        # A path goes on behind its last name.
        paths=(${(M)found:#*[=.]})
        operations=(${found:#*[=.]})
        # What comes from a contract is quoted: nothing in it is for the shell.
        ((! $#operations)) || compadd -- $operations
        ((! $#paths)) || compadd -S '' -- $paths
        # A file may be meant where an option stands before.
        [[ $#operations$#paths == 00 || $words[CURRENT-1] == -* ]] || return 0
    fi
    _castile "$@"
}
compdef _castile_of_contract castile
# The first completion runs this file.
[[ $funcstack[1] != _castile ]] || _castile_of_contract "$@"
