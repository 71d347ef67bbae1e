"""`run --sanitizer`: what PyTorch's CUDA sanitizer prints is read, whatever else is printed."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from overlapcheck.capture.sanitizer import sanitize
from overlapcheck.capture.sanitizer_log import unordered_in
from overlapcheck.errors import CaptureFailed, ExitCode
from overlapcheck.finding import SourceLine
from overlapcheck.renderers import renderers
from overlapcheck.report import Report
from overlapcheck.sanitizer_run import SanitizerRun
from overlapcheck.streams.second_opinion import with_second_opinion
from overlapcheck.verdict import Outcome
from tests.renderers.reports import REPORTS

# As torch.cuda._sanitizer words it (PyTorch 2.0 to 2.9): a line of equals signs, both accesses with
# their stacks, outermost frame first, and the stack of the allocation.
PRINTED = """\
step 4 loss 0.25
============================
CSAN detected a possible data race on tensor with data pointer 139719969079296
Access by stream 94646435460352 during kernel:
aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)
writing to argument(s) self, and to the output
With stack trace:
  File "/home/me/job/train.py", line 104, in <module>
    main()
  File "/home/me/job/train.py", line 88, in main
    buffer.copy_(batch, non_blocking=True)
  File "/opt/venv/lib/python3.11/site-packages/torch/utils/_device.py", line 77, in __torch_function__
    return func(*args, **kwargs)
  File "/opt/venv/lib/python3.11/site-packages/torch/cuda/_sanitizer.py", line 570, in __torch_dispatch__
    errors = self.event_handler._handle_kernel_launch(

Previous access by stream 0 during kernel:
aten::mm(Tensor self, Tensor mat2) -> Tensor
reading from argument(s) self
With stack trace:
  File "/home/me/job/train.py", line 104, in <module>
    main()
  File "/home/me/job/model.py", line 12, in forward
    return x @ self.weight

Tensor was allocated with stack trace:
  File "/home/me/job/train.py", line 41, in main
    buffer = torch.empty(8, device="cuda")
Traceback (most recent call last):
  File "/home/me/job/train.py", line 104, in <module>
    main()
torch.cuda._sanitizer.CUDASanitizerErrors: detected 1 errors
"""  # noqa: E501
ROOT = Path("/home/me/job")


def test_a_report_names_both_operators_their_streams_and_their_lines() -> None:
    (found,) = unordered_in(PRINTED, ROOT)

    assert (found.current.operator, found.previous.operator) == ("aten::copy_", "aten::mm")
    assert (found.current.stream, found.previous.stream) == (94646435460352, 0)
    assert found.current.how == "writing to argument(s) self, and to the output"
    assert found.current.place == SourceLine("train.py", 88, "main")
    assert found.previous.place == SourceLine("model.py", 12, "forward")
    assert found.allocated == SourceLine("train.py", 41, "main")
    assert found.text == (
        "no wait orders aten::copy_ on stream 0x5614972a3500, writing to argument(s) self, and to"
        " the output at train.py:88, behind aten::mm on the default stream, reading from"
        " argument(s) self at model.py:12"
    )


def test_the_same_places_are_one_report_and_others_are_others() -> None:
    other = PRINTED.replace("line 88", "line 90")

    assert len(unordered_in(PRINTED + PRINTED, ROOT)) == 1
    assert len(unordered_in(PRINTED + other, ROOT)) == 2


@pytest.mark.parametrize(
    "text",
    ["", "CSAN", PRINTED.split("Previous")[0], PRINTED.replace("CSAN detected", "I saw")],
    ids=["nothing", "a word", "cut off", "another text"],
)
def test_what_is_no_whole_report_is_none(text: str) -> None:
    assert unordered_in(text, ROOT) == ()


def test_an_unknown_allocation_and_frames_of_libraries_are_no_places() -> None:
    text = PRINTED.split("Tensor was allocated")[0] + "Trace for tensor allocation not found.\n"
    text = text.replace("/home/me/job/model.py", "/opt/lib/python3.11/site-packages/a.py")
    text = text.replace("/home/me/job/train.py", "<frozen runpy>")
    (found,) = unordered_in(text, ROOT)

    assert (found.allocated, found.previous.place, found.current.place) == (None, None, None)


def program(folder: Path, text: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def test_the_program_runs_under_the_variable_and_is_heard(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "printed.txt").write_text(PRINTED)
    command = program(
        tmp_path,
        "import os, sys\n"
        "print('not again')\n"
        "if os.environ.get('TORCH_CUDA_SANITIZER') == '1':\n"
        f"    sys.stderr.write(open({str(tmp_path / 'printed.txt')!r}).read())\n"
        "    sys.exit(1)\n",
    )
    run = sanitize(command)
    out, err = capfd.readouterr()

    assert (len(run.found), run.program_exit) == (1, 1)
    assert out == ""
    assert "CSAN detected" in err


def test_how_the_program_ended_is_told(tmp_path: Path) -> None:
    killed = sanitize(program(tmp_path, "import os\nos.kill(os.getpid(), 9)\n"))
    assert killed == SanitizerRun((), 128 + signal.SIGKILL)
    with pytest.raises(CaptureFailed, match="cannot start"):
        sanitize([str(tmp_path / "missing")])


def test_a_program_that_was_ended_is_ended_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("overlapcheck.capture.sanitizer._TIMES_SLOWER", 1)
    command = program(tmp_path, "import os, time\nprint(os.getpid())\ntime.sleep(600)\n")

    run = sanitize(command, at_most_s=1)

    assert run.stopped_by == "1 s under the sanitizer"
    assert os.waitstatus_to_exitcode(0) == 0


def judged(run: SanitizerRun) -> Report:
    return with_second_opinion(REPORTS["pass"], run)


def test_its_answer_is_a_check_of_the_verdict() -> None:
    found = SanitizerRun(unordered_in(PRINTED, ROOT), 1)
    report = judged(found)

    check = report.verdict.checks[-1]
    assert (check.name, check.outcome) == ("sanitizer", Outcome.FAIL)
    assert report.verdict.exit_code is ExitCode.FAIL
    for name in ("terminal", "junit", "sarif", "github", "html", "json"):
        assert "train.py:88" in renderers()[name].render(report)
        assert "race" not in renderers()[name].render(report).replace("trace", "").lower()


@pytest.mark.parametrize(
    ("run", "outcome"),
    [
        (SanitizerRun((), 0), Outcome.PASS),
        (SanitizerRun((), 3), Outcome.INCONCLUSIVE),
        (SanitizerRun((), 143, "50 s under the sanitizer"), Outcome.PASS),
    ],
)
def test_silence_passes_and_a_failing_program_tells_nothing(
    run: SanitizerRun, outcome: Outcome
) -> None:
    check = replace(judged(run)).verdict.checks[-1]

    assert check.outcome is outcome
