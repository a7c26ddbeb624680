"""The content policy of written pages: they load nothing from outside, so hostile text can neither run nor
send.
"""

from __future__ import annotations

import base64
from hashlib import sha256


def written_policy(*scripts: str, data: bool = False) -> str:
    """The Content-Security-Policy of a page on disk: it allows the page's own style and pictures, and these
    scripts, each given as the text between its tags. data: scripts that these import as data URLs run too.
    """
    digests = [base64.b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    sources = [*(f"'sha256-{digest}'" for digest in digests), *(["data:"] if data else [])]
    run = f"script-src {' '.join(sources)}; " if sources else ""
    within = "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; {run}{within}"


def policy_tag(policy: str) -> str:
    """The policy as a tag for a page's head. It must come before what it restricts."""
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
