"""What an approval remembers of a command: exactly its words, or its words without those that make no difference.

`make -j4 test` is remembered as `make test` and covers `make -s test`, but neither another target nor a variable;
`pytest -q tests/a.py` is remembered as `pytest` and covers other files of the workspace.
"""

from msgspec import Struct

from coderelay.policy.shell.build_command_check import significant_words
from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders
from coderelay.policy.shell.programs.program_table import find_build
from coderelay.policy.shell.strict_bash_parser import Script, Word, literal_script


class Signature(Struct, frozen=True):
    """The remembered words of a command. With `prefix`, words that make no difference are left out of them, and any
    such words may be in a command that is covered."""

    words: tuple[str, ...]
    prefix: bool = False


def takes_files(signature: tuple[str, ...]) -> bool:
    """Whether other files of the workspace may follow words that were remembered as a prefix."""
    found = find_build(signature)
    return found is not None and found[1].operands == "files" and found[1].options.most_operands != 0


def signature_of(script: Script) -> Signature | None:
    """The shortest signature that is safe to remember, or None if only the exact text is."""
    words = _only_vector(script)
    if words is None:
        return None
    kept = significant_words(words, CommandFolders())
    return Signature(kept, prefix=True) if kept else Signature(tuple(word.text for word in words))


def covers_command(signature: Signature, command: str, folders: tuple[str, ...] = ()) -> bool:
    """Whether an approved signature covers this command. It never covers redirections, assignments, globs or, with
    `prefix`, unknown options."""
    script = literal_script(command)
    words = _only_vector(script) if script else None
    if words is None:
        return False
    if not signature.prefix:
        return tuple(word.text for word in words) == signature.words
    return significant_words(words, CommandFolders(folders)) == signature.words


def _only_vector(script: Script) -> tuple[Word, ...] | None:
    if len(script.commands) != 1 or script.redirections or script.commands[0].assignments:
        return None
    words = script.commands[0].words
    return None if any(word.glob for word in words) else words
