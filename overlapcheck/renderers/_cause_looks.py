"""How each cause looks: one colour and texture on every page, and its colour in a terminal.

Causes that may stand beside each other have colours far apart; those that share a colour differ in
texture, so that neither print nor colour blindness makes two of them alike.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import NamedTuple


class Hue(Enum):
    """A colour on light ground, on dark ground, and among the sixteen of a terminal."""

    RED = ("#c8334f", "#ef7d8d", "red")
    BLUE = ("#2f46b0", "#8796f5", "bright_blue")
    OCHRE = ("#a87b00", "#e0c25c", "yellow")
    GREEN = ("#14734a", "#4fb985", "green")
    SKY = ("#1f8cc4", "#82cdf2", "bright_cyan")
    PLUM = ("#7c2458", "#c56aa0", "magenta")
    TEAL = ("#0f8b84", "#5fd0c4", "cyan")
    MOSS = ("#5f6b12", "#a9b84e", "bright_green")
    ORANGE = ("#cf5a14", "#f59a57", "bright_red")
    VIOLET = ("#8548c8", "#bd9cf5", "bright_magenta")
    BROWN = ("#744a2e", "#b98c6c", "bright_yellow")
    GREY = ("#757b82", "#9aa1a9", "white")

    @property
    def light(self) -> str:
        """As #rrggbb."""
        return self.value[0]

    @property
    def dark(self) -> str:
        """As #rrggbb."""
        return self.value[1]

    @property
    def terminal(self) -> str:
        """A style of rich."""
        return self.value[2]


class Texture(IntEnum):
    """A pattern, by its number in `_html/style.css` and `_html/timeline/palette.js`."""

    PLAIN = 0
    RISING = 1
    FALLING = 2
    DOTS = 3
    UPRIGHT = 4
    LEVEL = 5
    CROSSED = 6


class Look(NamedTuple):
    """What a cause is drawn with."""

    hue: Hue
    texture: Texture = Texture.PLAIN


OTHER = Look(Hue.GREY, Texture.UPRIGHT)
"""Of a cause that this version does not know: a saved result may be younger."""
LOOKS = {
    "pageable-copy": Look(Hue.RED),
    "sync-copy": Look(Hue.RED, Texture.DOTS),
    "same-stream": Look(Hue.ORANGE),
    "default-stream": Look(Hue.ORANGE, Texture.RISING),
    "contention": Look(Hue.ORANGE, Texture.DOTS),
    "launch-latency": Look(Hue.OCHRE),
    "uvm-migration": Look(Hue.MOSS),
    "late-start": Look(Hue.MOSS, Texture.RISING),
    "graph-opaque": Look(Hue.MOSS, Texture.DOTS),
    "launch-blocking": Look(Hue.GREEN),
    "host-sync": Look(Hue.GREEN, Texture.FALLING),
    "copy-bound": Look(Hue.TEAL),
    "copy-engine": Look(Hue.TEAL, Texture.FALLING),
    "event-wait": Look(Hue.SKY),
    "hardware-queue": Look(Hue.SKY, Texture.FALLING),
    "time-slicing": Look(Hue.SKY, Texture.DOTS),
    "launch-bound": Look(Hue.BLUE),
    "device-copy": Look(Hue.BLUE, Texture.RISING),
    "graph-launch": Look(Hue.BLUE, Texture.DOTS),
    "late-issue": Look(Hue.VIOLET),
    "host-starved": Look(Hue.VIOLET, Texture.RISING),
    "cuda-call": Look(Hue.VIOLET, Texture.DOTS),
    "mpi-wait": Look(Hue.PLUM),
    "exposed-collective": Look(Hue.PLUM, Texture.CROSSED),
    "allocation": Look(Hue.BROWN),
    "module-load": Look(Hue.BROWN, Texture.FALLING),
    "driver-lock": Look(Hue.BROWN, Texture.DOTS),
    "unexplained": Look(Hue.GREY),
    "incomplete-capture": Look(Hue.GREY, Texture.RISING),
    "profiler-overhead": Look(Hue.GREY, Texture.DOTS),
}
_NUMBERS = {cause: number for number, cause in enumerate(LOOKS)}


def look_of(cause: str) -> Look:
    """What a cause is drawn with."""
    return LOOKS.get(cause, OTHER)


def number_of(cause: str) -> int:
    """Number of a cause's look: its class on pages is `c` with it."""
    return _NUMBERS.get(cause, len(LOOKS))


def style_sheet() -> str:
    """The classes of all looks."""
    light = "".join(f"--h{number}:{hue.light};" for number, hue in enumerate(Hue))
    dark = "".join(f"--h{number}:{hue.dark};" for number, hue in enumerate(Hue))
    hues = list(Hue)
    rules = [f":root{{{light}}}", f':root[data-theme="dark"]{{{dark}}}']
    rules += [
        f".c{number}{{--c:var(--h{hues.index(look.hue)});{_pattern(look.texture)}}}"
        for number, look in enumerate((*LOOKS.values(), OTHER))
    ]
    return "\n".join([*rules, ""])


def _pattern(texture: Texture) -> str:
    if texture is Texture.PLAIN:
        return "--n:0"
    tile = ";--s:5px 5px" if texture is Texture.DOTS else ""
    return f"--n:{int(texture)};--t:var(--t{int(texture)}){tile}"
