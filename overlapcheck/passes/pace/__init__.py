"""The program's own pace, and what the recording took beyond it.

    control.py     what a control recording says of the steps
    cadence.py     how fast the host began its steps in it
    late_host.py   idle time that only the host's lateness explains
    own_pace.py    both, and what is recorded, come to the own pace
    at_pace.py     the measurements as they are at that pace
"""
