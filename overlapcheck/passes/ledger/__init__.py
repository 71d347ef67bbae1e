"""Every idle nanosecond of a device gets its reason: walked back, cut, and judged by rules."""
