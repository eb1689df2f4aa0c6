"""Judges the output of `rookery status --json`."""

import json


def trouble(result):
    """Returns why the node of a registered `rookery status --json` does not serve reads and writes, as a sentence; empty if it does.

    The exit code does not tell that: it is also 1 for a node that serves but refuses growth for want of space."""
    try:
        status = json.loads(result.get("stdout") or "")
    except ValueError:
        return (result.get("stderr") or result.get("msg") or "`rookery status` gave no answer.").strip()
    if not status.get("Ready"):
        return status.get("Reason") or "It is not ready."
    return (status.get("Cluster") or {}).get("Trouble") or ""


class FilterModule:
    def filters(self):
        return {"trouble": trouble}
