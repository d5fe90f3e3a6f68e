
# Operations and paths of values come from the contract that was named.
complete -c castile -n "__fish_castile_using_subcommand call; or __fish_castile_using_subcommand sample" -f -a "(castile complete -- (commandline -opc)[2..-1] (commandline -ct))"
