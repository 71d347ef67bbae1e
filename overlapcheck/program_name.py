"""What a program is called, where nsys knows only what started it.

nsys notes the names of a process and its first thread when it meets them; the shell or launcher
that becomes the program afterwards leaves its own name behind.

    bash -c 'exec python3 train.py'            train.py
    python -m torch.distributed.run train.py   train.py
    env A=1 ./solver input.dat                 solver
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import TypeVar

Key = TypeVar("Key")

_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "fish", "tcsh", "csh"})
_BEFORE_PROGRAMS = _SHELLS | {
    "env", "exec", "nsys", "nsys-launcher", "nohup", "nice", "time", "timeout", "stdbuf", "setsid",
    "numactl", "taskset", "tini", "dumb-init", "sudo",
}  # fmt: skip
_LAUNCHERS = frozenset(
    {"torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "srun", "horovodrun"}
)
_BUILT_IN = frozenset({"cd", "source", ".", "export", "set", "ulimit", "umask", "module", "echo"})
_BETWEEN_COMMANDS = re.compile(r"&&|\|\|?|;|\n")
_PYTHON = re.compile(r"(python|pypy)[\d.]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_NO_NAME = re.compile(r"-.*|[\d.:,]+[smhd]?", re.DOTALL)
"""An option, or a number that belongs to one."""


def starts_programs(name: str) -> bool:
    """Whether a process or thread of this name only starts, or becomes, something else."""
    base = PurePosixPath(name).name
    return base in _BEFORE_PROGRAMS or base in _LAUNCHERS


def with_program_names(names: Mapping[Key, str], command: str) -> dict[Key, str]:
    """Names of processes or threads, those of what only started the program replaced by its own."""
    program = program_of(command)
    return {key: program if starts_programs(name) else name for key, name in names.items()}


def program_of(command: str) -> str:
    """The program that a command line runs: a script, a module or an executable; "" for none."""
    try:
        words = shlex.split(command)
    except ValueError:  # cut in the middle of a quotation
        words = command.split()
    return _program(words)


def _program(words: list[str]) -> str:
    for at, word in enumerate(words):
        base = PurePosixPath(word).name
        rest = words[at + 1 :]
        if base in _SHELLS and rest[:1] and re.fullmatch(r"-\w*c", rest[0]):
            # A recorded command has lost its quotation marks: the script is all that follows.
            parts = _BETWEEN_COMMANDS.split(" ".join(rest[1:]).strip("'\""))
            found = (program_of(part) for part in parts)
            return next((name for name in found if name and name not in _BUILT_IN), "")
        if base in _BEFORE_PROGRAMS or _ASSIGNMENT.fullmatch(word) or _NO_NAME.fullmatch(word):
            continue
        if base in _LAUNCHERS or _PYTHON.fullmatch(base):
            return _script(rest) or base
        return base
    return ""


def _script(words: list[str]) -> str:
    """What an interpreter or launcher is given to run."""
    script = next((word for word in words if word.endswith(".py")), "")
    if script:
        return PurePosixPath(script).name
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1]
    if "-c" in words:
        return ""
    return _program(words)
