"""A comparison as JSON, schema number first."""

from __future__ import annotations

import json
from typing import Any

from overlapcheck.comparison import SCHEMA, Comparison, DeviceComparison, Quantity
from overlapcheck.renderers.json import plain_value


class ComparisonJson:
    """See `ComparisonRenderer`."""

    name = "json"
    suffix = ".json"

    def render(self, comparison: Comparison, /) -> str:
        """See `ComparisonRenderer.render`."""
        document = {
            "schema": SCHEMA,
            "kind": "comparison",
            "tool": {"name": "overlapcheck", "version": comparison.tool_version},
            "change": comparison.change.value,
            "exit_code": int(comparison.exit_code),
            "limit": comparison.limit,
            "too_bad": plain_value(comparison.too_bad),
            "objections": plain_value(comparison.objections),
            "noise_rule": comparison.noise_rule,
            "devices": [_device(device) for device in comparison.devices],
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _device(device: DeviceComparison) -> dict[str, Any]:
    return {
        "device": device.device,
        "change": device.change.value,
        "base": plain_value(device.base),
        "new": plain_value(device.new),
        "quantities": [_quantity(quantity) for quantity in device.quantities],
        "ledger": [_quantity(quantity) for quantity in device.ledger],
        "gone": [plain_value(cause) for cause in device.gone],
        "new_causes": [plain_value(cause) for cause in device.new_causes],
    }


def _quantity(quantity: Quantity) -> dict[str, Any]:
    return {**plain_value(quantity), "difference": quantity.difference}


RENDERER = ComparisonJson()
