"""Texts that come from elsewhere, such as the reply of a model."""


def storable(text: str) -> str:
    """Return a text with the characters replaced that databases reject: NUL, and halves of surrogate pairs."""
    return text.encode(errors="replace").decode().replace("\0", "\ufffd")
