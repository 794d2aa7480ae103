"""How Gemini signs a call where it speaks this form, so that it can be told later whether it came back unchanged."""

from base64 import b64encode
from hashlib import blake2b


def signature(model: str, call_id: str) -> str:
    """Nothing has to be remembered to check it, and one model's is no other's."""
    return b64encode(blake2b(f"{model}\0{call_id}".encode(), digest_size=30).digest()).decode()


def demands_signatures(model: str) -> bool:
    return model.startswith("gemini-3")
