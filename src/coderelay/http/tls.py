"""Which certificates are believed: the system's, and those the environment names."""

import asyncio
import ssl
from collections.abc import Mapping
from functools import lru_cache

from coderelay.http.failures import Broken

_HINT = "If the server can be trusted, let SSL_CERT_FILE name a file with its certificate, or its issuer's (PEM)."


def load_trust(env: Mapping[str, str]) -> asyncio.Future[ssl.SSLContext]:
    """Begins at once and in a thread: the first time in a process it takes as long as connecting does."""
    loading = asyncio.get_running_loop().run_in_executor(
        None, _context, env.get("SSL_CERT_FILE", ""), env.get("SSL_CERT_DIR", "")
    )
    loading.add_done_callback(lambda done: done.cancelled() or done.exception())  # connecting may fail first
    return loading


def tls_failure(error: ssl.SSLError) -> Broken:
    if isinstance(error, ssl.SSLCertVerificationError):
        what = f"shows a certificate that cannot be trusted: {error.verify_message}"
        return Broken(what, hint=_HINT, retryable=False)
    reason = (error.reason or str(error)).replace("_", " ").lower()
    return Broken(f"does not speak TLS as it should: {reason}", hint="Is the address really https?", retryable=False)


@lru_cache(maxsize=8)
def _context(file: str, directory: str) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=file or None, capath=directory or None)
    except OSError as error:  # an SSLError too, for a file without a certificate
        raise _unusable(file, directory, error) from error
    context.set_alpn_protocols(["http/1.1"])
    return context


def _unusable(file: str, directory: str, error: OSError) -> Broken:
    named = " and ".join(f"{name}={value}" for name, value in _named(file, directory) if value)
    return Broken(
        f"cannot be checked: {named or 'the certificates of this system'} cannot be read ({error.strerror or error})",
        hint="Let SSL_CERT_FILE name a file with certificates (PEM).",
        retryable=False,
    )


def _named(file: str, directory: str) -> tuple[tuple[str, str], ...]:
    return (("SSL_CERT_FILE", file), ("SSL_CERT_DIR", directory))
