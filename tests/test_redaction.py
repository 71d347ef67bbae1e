"""What is shown of a command line names no secret, no user and no host."""

from __future__ import annotations

import pytest

from overlapcheck.redaction import command_text, message_text, without_homes

PAT = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("python train.py --lr 0.1 --steps 30", "python train.py --lr 0.1 --steps 30"),
        ("a --hf-token xyz --lr 1", "a --hf-token *** --lr 1"),
        ("a --hf_token=xyz", "a --hf_token=***"),
        ("a --password=xyz -v", "a --password=*** -v"),
        ("a --password 1234", "a --password ***"),
        ("a --wandbApiKey xyz", "a --wandbApiKey ***"),
        ("a +wandb.api_key=xyz", "a +wandb.api_key=***"),
        ("env HF_TOKEN=xyz ANY=xyz a lr=3", "env HF_TOKEN=*** ANY=*** a lr=3"),
        ("a --use-token --lr 1", "a --use-token --lr 1"),
        ("a --max-tokens 4096 --nodes 2", "a --max-tokens 4096 --nodes 2"),
        ("a --tokenizer gpt2 --monkey x", "a --tokenizer gpt2 --monkey x"),
        ("a https://xyz:xyz@xyz.org/xyz/data?sig=xyz", "a https://***/data?***"),
        ("a s3://bucket/data", "a s3://bucket/data"),
        ("a xyz@xyz:/data/set", "a ***:set"),
        (f"a {PAT}", "a ***"),
        ("a " + "0123456789abcdef" * 3, "a ***"),
        (
            "a --rdzv-endpoint=xyz:29500 --master_addr xyz",
            "a --rdzv-endpoint=*** --master_addr ***",
        ),
        ("a /home/xyz", "a ~"),
        ("a /Users/xyz --root /root", "a ~ --root ~"),
        ("a --out=/home/xyz/runs/7 /root/x.py", "a --out=7 x.py"),
        ("a /mnt/home/xyz file:///home/xyz/y", "a ~ file://~/y"),
        ("a /opt/venv/bin/python", "a python"),
        ("a -p xyz -u xyz:xyz --lr 1", "a -p *** -u *** --lr 1"),
        ("a -pxyz123 -p 8080", "a -p*** -p 8080"),
        ("python -u train.py -u -m pkg", "python -u train.py -u -m pkg"),
        ("a --authkey=xyz --hfsecret xyz", "a --authkey=*** --hfsecret ***"),
        ("a --env=HF_TOKEN=xyz --set=a=1,token=xyz", "a --env=HF_TOKEN=*** --set=a=1,token=***"),
        ("a --url=?x=1&sig=xyz --sas=?sig=xyz", "a --url=***&sig=*** --sas=?sig=***"),
        ("a https://h.io/services/xyz/x9y8z7", "a https://***/***"),
        ("a https://h.io/xyz/model.tar.gz", "a https://***/model.tar.gz"),
        (r"a \\xyz\xyz\data.bin", "a data.bin"),
    ],
)
def test_a_command_line(command: str, shown: str) -> None:
    assert command_text(command.split(" ")) == shown


@pytest.mark.parametrize(
    "word",
    [
        "HF_TOKEN=xyz python t.py --password 'xyz xyz' --lr 1",
        '{"token": "xyz xyz", "lr": 1}',
        '--conf={"api_key": "xyz"}',
        "Authorization: Bearer xyzxyzxyz",
    ],
)
def test_words_within_a_word(word: str) -> None:
    assert "xyz" not in command_text(["bash", "-c", word])


def test_a_secret_of_several_words_goes_as_one() -> None:
    assert command_text(["a", "--password", "xyz xyz", "b"]) == "a --password *** b"


def test_names_that_the_recording_tells_are_cut_wherever_they_stand() -> None:
    words = ["a", "/scratch/jane", "--run", "jane-7", "node17.cluster", "janette"]

    assert (
        command_text(words, ["jane", "node17", "root"]) == "a *** --run ***-7 ***.cluster janette"
    )


def test_a_message_brings_no_path_along() -> None:
    said = message_text("cannot open /home/xyz/a/b.so on xyz: see /tmp/xyz/log.txt", ["xyz"])

    assert said == "cannot open b.so on ***: see log.txt"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/jane/x.py: gone", "~/x.py: gone"),
        ("see /root/x and ~jane/y", "see ~/x and ~/y"),
        (r"C:\Users\jane\x", r"~\x"),
        ("ns::Foo::~Foo() and ~Foo(int)", "ns::Foo::~Foo() and ~Foo(int)"),
        ("/rooted/x /homework/y", "/rooted/x /homework/y"),
    ],
)
def test_homes(text: str, shown: str) -> None:
    assert without_homes(text) == shown


@pytest.mark.parametrize("unit", ["a", "/a", "a=", "x://", "~a", "a ", '"', "-", "a+", "/home"])
def test_a_long_command_line_is_bounded(unit: str) -> None:
    assert len(command_text([unit * 100_000] * 1000)) < 20_000
