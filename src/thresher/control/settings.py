"""Settings at run time: checked, written with their history, and in force everywhere within a few seconds."""

from thresher.config.settings import Number, setting
from thresher.store.settings import change_setting
from thresher.store.store import Store


def set_setting(store: Store, name: str, text: str, by: str) -> Number:
    """Change a setting; the value that is in force now."""
    value = setting(name).parse(text)
    change_setting(store, name, value, by)
    return value


def unset_setting(store: Store, name: str, by: str) -> Number:
    """Go back to the project's value or the default; the value that is in force now."""
    known = setting(name)
    change_setting(store, name, None, by)
    return store.project_settings.get(name, known.default)
