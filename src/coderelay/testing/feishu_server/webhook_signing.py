"""Webhook calls as the platform makes them: encrypted, and signed over the bytes that are sent."""

import base64
import hashlib
import json
import secrets
import time
from typing import Any

from msgspec import Struct


class SignedCall(Struct):
    """A call that a test may still change before it is sent."""

    body: bytes
    headers: dict[str, str]


def signed_call(
    event: dict[str, Any], encrypt_key: str, *, at: float | None = None, nonce: str | None = None
) -> SignedCall:
    body = json.dumps({"encrypt": encrypt(json.dumps(event).encode(), encrypt_key)}).encode()
    timestamp, nonce = str(int(time.time() if at is None else at)), nonce or secrets.token_hex(8)
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "X-Lark-Request-Timestamp": timestamp,
        "X-Lark-Request-Nonce": nonce,
        "X-Lark-Signature": sign(body, timestamp, nonce, encrypt_key),
    }
    return SignedCall(body, headers)


def sign(body: bytes, timestamp: str, nonce: str, encrypt_key: str) -> str:
    return hashlib.sha256((timestamp + nonce + encrypt_key).encode() + body).hexdigest()


def encrypt(text: bytes, encrypt_key: str) -> str:
    from Crypto.Cipher import AES  # comes with lark-oapi

    start = secrets.token_bytes(16)
    padding = 16 - len(text) % 16
    key = hashlib.sha256(encrypt_key.encode()).digest()
    cipher = AES.new(key, AES.MODE_CBC, start)
    return base64.b64encode(start + cipher.encrypt(text + bytes([padding]) * padding)).decode()
