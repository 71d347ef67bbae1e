"""The policy file that a team starts from: every setting, its default, and what it means."""

from __future__ import annotations

TEMPLATE = """\
# How overlapcheck judges the programs of this repository. Every line is optional; what is
# commented out shows the default, or an example where there is none. Limits are percentages.
# The command line beats this file: overlapcheck analyze --help. The same settings may stand in
# pyproject.toml under [tool.overlapcheck].

# Least share of each direction's copy time that must run under compute.
min-overlap = 80

# Whether 0.9 of what compute can hide at all is enough where compute is shorter than the copies.
# ceiling = true

# Largest share of the time that perfect overlap could still win back.
max-recoverable = 10

# Largest share of the time without compute; not judged unless it is set.
# max-idle = 20

# Largest share of the time with communication and no compute; not judged unless it is set.
# max-exposed-comm = 5

# Whether a window without copies fails.
# require-copies = false

# Causes that fail the run from 2 % of the time on; list them: overlapcheck explain
# fail-on = ["pageable-copy", "host-sync"]

# Which stream must wait for which, in a file beside this one; write a first one:
# overlapcheck streams REPORT --write streams.toml
# streams = "streams.toml"

# NVTX ranges that are the steps, "my step #" or a regular expression; default: step-like names.
# steps = "train step #"

# Leading steps to leave out; default: as many as still allocate or load code.
# skip = 3

# How long a step takes when nothing records it: shares are judged at that pace. A control recording
# says it better: overlapcheck analyze REPORT --control CONTROL
# step-time = "20.6ms"

# Further names of communication kernels, as regular expressions.
# comm-patterns = ["my_ring_.*"]

# Share of the ranks of a job that may fail while the job passes; one that cannot be judged counts
# as one that may fail.
# max-failing-ranks = 0

# How many ranks a job has: with fewer it is INCONCLUSIVE. Without it, what the names of the reports
# ("3-of-8"), gaps in the numbers of ranks, and WORLD_SIZE and its like say.
# expect-ranks = 8

# Limits of single directions, instead of min-overlap.
# [overlap]
# h2d = 90
# d2h = 50

# Limits inside the NVTX ranges of one name, * for any letters, beside those of the whole: on the
# device time of the work that was launched while such a range was open, by any thread. Only what
# is set is judged, overlap, max-idle and max-exposed-comm too. No such range: INCONCLUSIVE.
# [ranges."forward*"]
# min-overlap = 90
# max-recoverable = 5

# Blocking calls that are accepted. Their time does not count for fail-on, and the report shows
# the reason; the numbers never change. All that an entry says must match.
# [[allow]]
# api = "cudaStreamSynchronize"
# nvtx = "validation*"
# source = "train.py:104"
# reason = "early stopping needs the loss of every step"

# For studies: other values of the numbers that decide, which every report then names. Each cause
# lists its own: overlapcheck explain CAUSE. All are in docs/thresholds.md.
# [thresholds]
# start-latency-ns = 20000

# Further settings by name, laid over those above: overlapcheck analyze --profile ci
[profiles.ci]
max-recoverable = 10
# require-copies = true
"""
