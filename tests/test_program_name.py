from __future__ import annotations

import pytest

from overlapcheck.program_name import program_of, with_program_names


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("python3 -m launch finetune.py --epochs 1", "finetune.py"),
        ("python -m torch.distributed.run --nproc-per-node 2 train.py --lr 1", "train.py"),
        ("torchrun --nproc_per_node=2 -m pkg.train", "pkg.train"),
        ("bash -c 'exec python3 train.py'", "train.py"),
        ("bash -lc cd /work && python3 train.py", "train.py"),
        ("/bin/sh run.sh", "run.sh"),
        ("env A=1 B=2 ./solver input.dat", "solver"),
        ("timeout 5m nice -n 5 /opt/app/solver", "solver"),
        ("mpirun -n 2 ./halo", "halo"),
        ("python3 -c print(1)", "python3"),
        ("./solver train.py", "solver"),
        ("bash -c 'unfinished", "unfinished"),
        ("bash", ""),
        ("", ""),
    ],
)
def test_the_program_is_what_the_command_says_runs(command: str, program: str) -> None:
    assert program_of(command) == program


def test_only_names_of_what_starts_programs_are_replaced() -> None:
    names = {1: "/usr/bin/bash", 2: "nsys-launcher", 3: "/usr/bin/python3", 4: "pt_data_pin"}

    assert with_program_names(names, "sh -c 'python3 train.py'") == {
        1: "train.py",
        2: "train.py",
        3: "/usr/bin/python3",
        4: "pt_data_pin",
    }
