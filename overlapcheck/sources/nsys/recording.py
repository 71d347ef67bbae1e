"""What to tell nsys, where a recording or an export of it lacks something."""

from __future__ import annotations

from overlapcheck.recorder import Content, Recorder

_WHOLE = "export the whole report, not --tables; else record again with --trace=cuda"

NSYS = Recorder(
    "nsys",
    {
        Content.KERNELS: _WHOLE,
        Content.COPIES: _WHOLE,
        Content.MEMSETS: _WHOLE,
        Content.CALLS: "record CUDA calls too: --trace=cuda (and export the whole report, not"
        " --tables)",
        Content.SYNCS: _WHOLE,
        Content.EVENT_RECORDS: "record again with --cuda-event-trace=true",
        Content.RANGES: "record them: --trace=cuda,nvtx",
        Content.NCCL_CALLS: "record again with --trace=nvtx, and nsys export --include-blobs=true",
        Content.OS_CALLS: "record again with --trace=osrt",
        Content.MPI_CALLS: "record again with --trace=mpi",
        Content.DIRECTIVES: "record again with --trace=openacc,openmp",
        Content.OVERHEADS: _WHOLE,
        Content.PAGE_FAULTS: "record again with --cuda-um-gpu-page-faults=true",
        Content.STREAMS: _WHOLE,
        Content.CONTEXTS: _WHOLE,
        Content.BACKTRACES: "overlapcheck run --backtrace PROGRAM",
        Content.GPU_WORK: "overlapcheck run PROGRAM, or nsys profile --trace=cuda,nvtx,osrt"
        " PROGRAM",
        Content.LAUNCHED_WORK: "the GPU side of the trace failed (WSL2, another CUDA profiler, old"
        " nsys, crash): overlapcheck doctor",
        Content.WORK_OF_STEPS: "record with an nsys as new as the CUDA driver, no second profiler:"
        " overlapcheck doctor",
        Content.ALL_ROWS: "record again: overlapcheck run PROGRAM (no other CUDA profiler, clean"
        " exit)",
        Content.GRAPH_NODES: "record with --cuda-graph-trace=node (overlapcheck run does)",
        Content.COPY_KINDS: "export the report again with an nsys as new as the one that recorded"
        " it",
        Content.NAMES: "export the whole report again, not --tables; else record again",
        Content.TRUE_TIMES: "the file is damaged: copy it or export it again, else record again",
        Content.UNDISTURBED: "record less: --trace=cuda,nvtx,osrt without backtraces"
        " (--cudabacktrace=none, --sample=none, --cpuctxsw=none), no --cuda-event-trace",
        Content.OTHER_USERS: "record again with --trace=cuda,nvtx,osrt and --gpuctxsw=true",
        Content.STEPS: "overlapcheck run --mark-steps --control always PROGRAM (or mark its steps"
        " with NVTX ranges: 'step 3')",
        Content.OWN_PACE: "overlapcheck run --control always PROGRAM (or of this recording:"
        " nsys profile --trace=nvtx PROGRAM, overlapcheck analyze REPORT --control CONTROL)",
    },
    list_ranges="nsys stats --report nvtx_sum REPORT",
)
