"""What repairs would win as JSON, schema number first."""

from __future__ import annotations

import json

from overlapcheck.predicted import WhatIf


class WhatIfJson:
    """See `WhatIfRenderer`."""

    name = "json"
    suffix = ".json"

    def render(self, found: WhatIf, /) -> str:
        """See `WhatIfRenderer.render`."""
        from overlapcheck.saved import what_if_document

        return json.dumps(what_if_document(found), indent=2, allow_nan=False) + "\n"


RENDERER = WhatIfJson()
