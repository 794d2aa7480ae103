"""Certificates that no one has signed but themselves, made for the test."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


class Certificate:
    """For 127.0.0.1 and `model.test`, unless other names are given."""

    def __init__(self, folder: Path, names: str = "IP:127.0.0.1,DNS:model.test") -> None:
        openssl = shutil.which("openssl")
        if openssl is None:
            pytest.skip("no openssl to make a certificate with")
        folder.mkdir(exist_ok=True)
        self.file = folder / "certificate.pem"
        made = subprocess.run(
            f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split()
            + f"-subj /CN=coderelay -addext subjectAltName={names} -out certificate.pem -keyout key.pem".split(),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            pytest.skip(f"openssl makes no certificate here: {made.stderr.strip()[-200:]}")
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.load_cert_chain(self.file, folder / "key.pem")

    @property
    def trusted(self) -> dict[str, str]:
        """An environment that trusts it."""
        return {"SSL_CERT_FILE": str(self.file)}
