"""Filters that compare the administrators of an earlier run, `{NAME: [KEY, …]}`, with the wanted ones."""


def wanted_keys(admins):
    """Returns the wanted keys by name."""
    return {admin["name"]: [key.strip() for key in admin["keys"]] for admin in admins}


def unwanted_keys(recorded, admins):
    """Returns `{name, key}` of each key that an earlier run added and that is not wanted now."""
    wanted = wanted_keys(admins)
    return [{"name": name, "key": key} for name, keys in sorted(recorded.items()) for key in keys if key not in wanted.get(name, [])]


def unwanted_admins(recorded, admins):
    """Returns the names of the administrators of an earlier run that are not wanted now."""
    return sorted(set(recorded) - set(wanted_keys(admins)))


def all_keys(recorded, admins):
    """Returns the keys by name that an earlier run added or that are wanted now."""
    wanted = wanted_keys(admins)
    return {name: list(dict.fromkeys(recorded.get(name, []) + wanted.get(name, []))) for name in {**recorded, **wanted}}


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """Returns the filters by name."""
        return {"unwanted_keys": unwanted_keys, "unwanted_admins": unwanted_admins, "wanted_keys": wanted_keys, "all_keys": all_keys}
