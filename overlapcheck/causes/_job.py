"""Which devices work on one job with another."""

from __future__ import annotations

from overlapcheck.measurements import DeviceMeasurements, Measurements


def others_of_job(device: DeviceMeasurements, measured: Measurements) -> list[DeviceMeasurements]:
    """The other devices of its process, and those that it meets in collectives."""
    keys = [one.key for one in measured.devices]
    own = keys.index(device.key)
    met = {
        member
        for meeting in measured.meetings
        if own in meeting.members
        for member in meeting.members
    }
    return [
        other
        for number, other in enumerate(measured.devices)
        if number != own and (number in met or other.process == device.process)
    ]
