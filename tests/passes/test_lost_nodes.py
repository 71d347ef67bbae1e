"""Graph nodes: of which graph they are, how many launches must have run them, what counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.export import edit
from tests.pictures import measure_file, picture

KERNELS = "CUPTI_ACTIVITY_KIND_KERNEL"


def whats(text: str) -> list[str]:
    return [problem.what for problem in picture(text).measure().problems]


def test_each_graph_is_compared_with_its_own_launches(tmp_path: Path) -> None:
    """Graphs of two nodes and of one: two launches of each count, and one lacks its second."""
    path = picture("""
        s7 kernel k         |.a...b...c...d...|
        s7 kernel m         |..a...b...c...d..|
        s7 kernel l         |....u...v...w...x|
        t1 cudaGraphLaunch  |a..ub..vc..wd..x.|
        """).export(tmp_path / "graphs.sqlite")
    edit(
        path,
        f"UPDATE {KERNELS} SET graphNodeId = graphNodeId + (1 << 32) WHERE shortName ="
        " (SELECT id FROM StringIds WHERE value = 'l')",
    )
    assert measure_file(path).problems == ()
    edit(path, f"DELETE FROM {KERNELS} WHERE start = 6000")
    (problem,) = measure_file(path).problems

    assert problem.what == "1 of 6 graph nodes launched left no row on the device"


@pytest.mark.parametrize(
    ("optional", "lost"),
    [
        ("...a..b..c........|", []),
        ("...a..b..c..d.....|", ["1 of 8 graph nodes launched left no row on the device"]),
    ],
)
@pytest.mark.parametrize("call", ["cudaGraphConditionalHandleCreate", "cudaGraphNodeSetEnabled"])
def test_where_nodes_are_optional_one_that_half_of_the_launches_ran_is_not_missed(
    optional: str, lost: list[str], call: str
) -> None:
    """Four launches count: the first and the last may be cut in two."""
    found = whats(f"""
        s7 kernel k         |.aa.bb.cc.dd.ee.ff|
        s7 kernel l         |{optional}
        t1 cudaGraphLaunch  |a..b..c..d..e..f..|
        t1 {call} |.z................|
        """)

    assert found == lost


CAPTURED = """
s7 kernel k                |.oo.....aa.bb.cc|
s9 h2d pinned 1B           |.....n..........|
t1 cudaStreamBeginCapture  |.x..............|
t1 cudaMemcpyAsync         |..m.n...........|
t1 cudaStreamEndCapture    |...y............|
t1 cudaLaunchKernel        |o...............|
t1 cudaGraphLaunch         |.......a..b..c..|
"""


def test_copies_of_other_calls_stand_for_none_of_a_graph() -> None:
    assert whats(CAPTURED) == ["no graph launch left a row of the copies in it"]


def test_a_kernel_of_its_own_before_all_graphs_hides_none() -> None:
    """The first row of the table belongs to no graph; of b the second node is gone."""
    assert whats("""
        s7 kernel first     |.o.................|
        s7 kernel k         |...aa.bb.cc.dd.....|
        s7 kernel l         |.....a....c..d.....|
        t1 cudaLaunchKernel |o..................|
        t1 cudaGraphLaunch  |..a..b..c..d.......|
        """) == ["1 of 4 graph nodes launched left no row on the device"]
