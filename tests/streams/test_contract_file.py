"""The file of a contract: what is written is read back, and what is no contract is refused."""

from __future__ import annotations

import pytest

from overlapcheck.errors import PolicyInvalid
from overlapcheck.stream_contract import (
    Buffer,
    EdgeKind,
    EdgeRule,
    HostRule,
    Often,
    Pipeline,
    Place,
    Proof,
    StreamContract,
    StreamRule,
)
from overlapcheck.stream_contract_file import read_contract, written

PIPELINE = Pipeline(
    (
        StreamRule("compute", "null", 12),
        StreamRule("h2d", "non-blocking", None, ("compute", "h2d")),
    ),
    (
        EdgeRule("compute", "h2d", EdgeKind.REUSE, -2, places=(Place(3, 0),)),
        EdgeRule("h2d", "compute", EdgeKind.READY, 0, 2, Often.MOST,
                 places=(Place(0, 1), Place(1, 4))),
        EdgeRule("h2d", "compute", EdgeKind.READY, 0, proof=Proof.NULL_STREAM),
    ),
    (
        HostRule("cudaDeviceSynchronize", often=Often.SOME),
        HostRule("cudaEventSynchronize", "h2d", -2, timer=True),
        HostRule("cudaEventSynchronize", "h2d", -1, 3, memory=True),
        HostRule("cudaMemcpy", "h2d", copy=True, memory=True),
    ),
)  # fmt: skip
CONTRACT = StreamContract(
    (PIPELINE,), True, "step #", (Buffer("h2d", "compute", 2), Buffer("compute", "h2d", fresh=True))
)


@pytest.mark.parametrize(
    "contract",
    [
        CONTRACT,
        StreamContract((PIPELINE, Pipeline((), (), ())), False),
        StreamContract((Pipeline((), (), ()),), True, 'an "odd" # name'),
    ],
    ids=["one process", "two", "odd name"],
)
def test_a_contract_comes_back_as_it_was(contract: StreamContract) -> None:
    assert read_contract(written(contract), "streams.toml") == contract


def test_a_reviewer_reads_what_an_edge_is_for() -> None:
    text = written(CONTRACT)

    assert (
        "# h2d waits until compute of 2 steps before is done: it overwrites what that read"
        " (2 buffers); covers 9 of its 12 operations" in text
    )
    assert "# the host waits for h2d before it uses the memory that was copied" in text
    assert all(len(line) <= 160 for line in text.splitlines())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("version = [", "not TOML"),
        ("version = 2", "version = 2"),
        ('version = 1\nsteps = "step #"\nedgse = []', "edgse"),
        ("version = 1", "steps is missing"),
        ('version = 1\nsteps = 3', "steps is missing or no text"),
        ('version = 1\nsteps = "step #"\nedges = [{ from = "a", to = "b" }]', "kind"),
        (
            'version = 1\nsteps = "step #"\nedges = [{ from = "a", to = "b", kind = "ready",'
            " distance = 0 }]",
            'there is no stream "a"',
        ),
        (
            'version = 1\nsteps = "s #"\nstreams = [{ name = "a", kind = "null" }]\nedges = [{'
            ' from = "a", to = "a", kind = "join", distance = 0, per_step = 2, behind = [1] }]',
            "behind is not a number for each of 2 waits",
        ),
        ('version = 1\nsteps = "s #"\n[[buffer]]\nwrites = "a"\nreads = "b"', "slots = 2"),
        (
            'version = 1\nsteps = "s #"\n[[buffer]]\nwrites = "a"\nreads = "b"\nslots = 0',
            "slots = 2",
        ),
        ('version = 1\nsteps = "s #"\nhost = [{ call = 3 }]', "host: call"),
    ],
)  # fmt: skip
def test_what_is_no_contract_is_refused_by_name(text: str, says: str) -> None:
    with pytest.raises(PolicyInvalid) as refused:
        read_contract(text, "streams.toml")

    assert refused.value.message.startswith("streams.toml: ")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_hostile_name_of_the_steps_leaves_a_file_that_can_be_read() -> None:
    contract = StreamContract((PIPELINE,), True, 'step #\x7f\x1b[31m\n"]')
    text = written(contract)

    assert "\x1b" not in text and "\x7f" not in text
    assert read_contract(text, "streams.toml").pipelines == contract.pipelines
