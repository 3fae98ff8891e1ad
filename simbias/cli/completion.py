"""`simbias completion SHELL`: what makes Tab work."""

import dataclasses
from typing import Annotated, Literal

import tyro

from simbias.cli._complete import COMPLETE
from simbias.cli._terminal import put

Shell = Literal["bash", "zsh", "fish"]


@dataclasses.dataclass(frozen=True)
class CompletionOptions:
    """Print the script with which Tab completes commands, experiments, options, runs.

    bash: simbias completion bash > ~/.local/share/bash-completion/completions/simbias

    zsh: simbias completion zsh > "${fpath[1]}/_simbias"

    fish: simbias completion fish > ~/.config/fish/completions/simbias.fish
    """

    shell: Annotated[Shell, tyro.conf.Positional]
    """The shell: bash, zsh or fish."""


def completion(arguments: list[str]) -> int:
    """Print the script of a shell."""
    parsed = tyro.cli(CompletionOptions, args=arguments, prog="simbias completion")
    put(_SCRIPTS[parsed.shell].replace("COMPLETE", COMPLETE))
    return 0


_SCRIPTS: dict[Shell, str] = {
    "bash": """\
# Tab for simbias in bash.
_simbias() {
    local IFS=$'\\n' line=("${COMP_WORDS[@]:1:COMP_CWORD}")
    # Words are as they were typed, with a backslash before a space.
    COMPREPLY=($("${COMP_WORDS[0]}" COMPLETE "${line[@]//\\\\/}" 2>/dev/null))
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
    local i
    for i in "${!COMPREPLY[@]}"; do
        printf -v "COMPREPLY[i]" %q "${COMPREPLY[i]}"
    done
    return 0
}
complete -o bashdefault -o default -F _simbias simbias""",
    "zsh": """\
#compdef simbias
# Tab for simbias in zsh.
_simbias() {
    local -a found folders
    found=("${(@f)$("${words[1]}" COMPLETE "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    folders=("${(@M)found:#*/}")
    found=("${(@)found:#*/}")
    found=("${(@)found:#}")
    (( ${#folders} )) && compadd -S '' -a folders
    (( ${#found} )) && compadd -a found
    (( ${#folders} + ${#found} )) || _files
}
(( $+functions[compdef] )) && compdef _simbias simbias""",
    "fish": """\
# Tab for simbias in fish.
function __simbias_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] COMPLETE $words[2..-1] 2>/dev/null
end
complete -c simbias -n 'count (__simbias_complete) > /dev/null' -f \\
    -a '(__simbias_complete)'""",
}
