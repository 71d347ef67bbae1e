"""The last step before the profiled program: give it back its own streams, then become it.

Runs inside nsys as a plain script of the standard library. nsys would put pipes between the
program and the terminal, and its own messages into the program's output; with this in between
the program has the very files that overlapcheck was started with.

    program_start.py STATE TMPDIR STDIN STDOUT STDERR -- PROGRAM ARGUMENTS...

STATE is a directory: `started` receives the process id, `launcher` before it that of its parent,
`not_started` why the program could not be run, `config_files` what nsys wrote outside its temporary
directory. TMPDIR is `=value` to restore the variable, empty to remove it. The streams are
inherited descriptors.
"""

import errno
import os
import signal
import sys

CANNOT_EXECUTE = 126


def main(arguments: list[str]) -> None:
    """Become the program named after the separator."""
    state, tmpdir, *streams = arguments[: arguments.index("--")]
    command = arguments[len(streams) + 3 :]
    for target, descriptor in enumerate(streams):
        os.dup2(int(descriptor), target)
        os.close(int(descriptor))
    if tmpdir:
        os.environ["TMPDIR"] = tmpdir[1:]
    else:
        os.environ.pop("TMPDIR", None)
    if not _in_initial_environment("LC_CTYPE"):
        # NOTE: Python itself sets it in the C locale (PEP 538).
        os.environ.pop("LC_CTYPE", None)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    # NOTE: nsys 2023.4.4 leaves these in /tmp when it is killed.
    written = {value for value in os.environ.values() if "/injection_config_" in value}
    _write(f"{state}/config_files", "\n".join(sorted(written)))
    _write(f"{state}/launcher", str(os.getppid()))
    _write(f"{state}/started", str(os.getpid()))
    try:
        _become(command)
    except OSError as error:
        _write(f"{state}/not_started", error.strerror or str(error))
        os._exit(CANNOT_EXECUTE)


def _become(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        # A script without `#!`: what a shell does, and execvp(3).
        places = [""] if "/" in command[0] else [f"{place}/" for place in os.get_exec_path()]
        script = next(p + command[0] for p in places if os.access(p + command[0], os.X_OK))
        os.execv("/bin/sh", ["sh", script, *command[1:]])


def _in_initial_environment(name: str) -> bool:
    with open("/proc/self/environ", "rb") as environment:  # noqa: PTH123
        return any(
            entry.startswith(f"{name}=".encode()) for entry in environment.read().split(b"\0")
        )


def _write(path: str, text: str) -> None:
    # Renamed when whole: the reader polls for the name.
    with open(f"{path}.part", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)
    os.rename(f"{path}.part", path)  # noqa: PTH104


if __name__ == "__main__":
    main(sys.argv[1:])
