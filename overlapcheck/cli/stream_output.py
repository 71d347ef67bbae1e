"""Looking at streams, holding them against a contract, and writing one."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from overlapcheck.errors import ExitCode

if TYPE_CHECKING:
    from overlapcheck.selection import Selection
    from overlapcheck.stream_report import StreamReport


class StreamOptions(TypedDict):
    """Options of `streams`, as click names them."""

    steps: str | None
    skip: int | None
    window: str | None
    comm_pattern: tuple[str, ...]
    config: Path | None
    no_config: bool
    nsys: Path | None
    no_cache: bool
    format_: str
    outputs: tuple[Path, ...]


def examine(
    report: Path, write_to: Path | None, check_by: Path | None, **options: Unpack[StreamOptions]
) -> ExitCode:
    """Do what the options of `streams` say.

    Returns:
        The exit code of the check, or of what kept a contract from being written.
    """
    from overlapcheck import pipeline
    from overlapcheck.cli.files import spare_inputs, write
    from overlapcheck.cli.messages import say
    from overlapcheck.cli.output import print_text, suited
    from overlapcheck.cli.progress import shown
    from overlapcheck.cli.stopping import stoppable
    from overlapcheck.policy.streams import contract_file
    from overlapcheck.reading import Reading
    from overlapcheck.renderers.streams import stream_renderer, stream_renderer_for_file

    stream_renderer(options["format_"])
    for path in options["outputs"]:
        stream_renderer_for_file(path.name)
    spare_inputs([*options["outputs"], *([write_to] if write_to else [])], [report])
    selection = _selection(options)
    contract = contract_file(check_by) if check_by else None
    with stoppable(f"analysing {report}"), shown() as progress:
        reading = Reading(
            nsys=options["nsys"],
            cache=not options["no_cache"],
            progress=progress,
            opened=progress.opens,
            warn=say,
        )
        found = pipeline.streams(report, selection=selection, contract=contract, reading=reading)
    print_text(suited(stream_renderer(options["format_"]), to_terminal=True).render(found))
    for path in options["outputs"]:
        write(path, suited(stream_renderer_for_file(path.name)).render(found))
    written = _write(found, write_to) if write_to else ExitCode.PASS
    return written or found.exit_code


def _selection(options: StreamOptions) -> Selection:
    from overlapcheck.causes import causes
    from overlapcheck.cli.options import given
    from overlapcheck.policy.resolve import Source, resolve, settings_of

    file = dict(settings_of(Source(options["config"], options["no_config"]), causes()))
    file.pop("streams", None)  # it may be what is to be written
    named = {key: options[key] for key in ("steps", "skip", "window", "comm_pattern")}
    return resolve(file, given(defaultdict(lambda: None, named)))[1]


def _write(found: StreamReport, path: Path) -> ExitCode:
    """Write the contract; what the team declared in the file stays."""
    from overlapcheck.cli.files import write
    from overlapcheck.cli.messages import say
    from overlapcheck.policy.streams import contract_file
    from overlapcheck.stream_contract_file import written

    why = found.why_no_contract
    if why:
        say(f"{path}: not written: {why}")
        return ExitCode.INCONCLUSIVE
    buffers = contract_file(path).buffers if path.is_file() else ()
    write(path, written(found.to_agree_on(buffers)))
    return ExitCode.PASS
