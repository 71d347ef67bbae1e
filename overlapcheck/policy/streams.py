"""Reading the contract of streams that a policy, or a command, names."""

from __future__ import annotations

from pathlib import Path

from overlapcheck.errors import PolicyInvalid
from overlapcheck.policy.document import MOST_BYTES, shown
from overlapcheck.stream_contract import StreamContract
from overlapcheck.stream_contract_file import read_contract

_WRITE = "write a first one: overlapcheck streams REPORT --write FILE"


def contract_file(path: Path) -> StreamContract:
    """The contract in a file.

    Raises:
        PolicyInvalid: it cannot be read, or is no contract.
    """
    place = shown(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise PolicyInvalid(f"{place}: too long for a contract of streams", _WRITE)
        text = content.decode("utf-8")
    except OSError as error:
        raise PolicyInvalid(
            f"{place}: the contract of streams cannot be read: {error.strerror or error}", _WRITE
        ) from error
    except UnicodeDecodeError as error:
        raise PolicyInvalid(f"{place}: not UTF-8 text", "save it as UTF-8") from error
    return read_contract(text, place)
