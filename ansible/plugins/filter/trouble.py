"""The filter `trouble`, which reads the registered result of `rookery status --json`."""

import json


def trouble(result):
    """Returns why the node does not serve reads and writes, as a sentence; the empty text if it serves.

    `result` is what Ansible registered of `rookery status --json`. Its exit code does not decide: it is 1 also for a node that serves but, short of space,
    refuses writes that add data."""
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
