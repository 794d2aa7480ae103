"""How a thought is signed, so that it can be told later whether it came back unchanged."""

from base64 import b64encode
from hashlib import blake2b


def signature(model: str, thinking: str) -> str:
    """Nothing has to be remembered to check it, and one model's is no other's."""
    return b64encode(blake2b(f"{model}\0{thinking}".encode(), digest_size=30).digest()).decode()
