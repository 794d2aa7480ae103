"""Which addresses a model may be sent to."""

from ipaddress import ip_address

import pytest

from coderelay.protocol.errors import ToolFailed
from coderelay.tools.web.page_address_check import checked_place, is_public, page_address

ONE_FORM = {
    "https://Docs.Python.org": "https://docs.python.org/",
    " http://example.com:80/a b ".replace(" b", "%20b"): "http://example.com/a%20b",
    "https://example.com:443/x?q=ü#part": "https://example.com/x?q=%C3%BC",
    "https://münchen.de/straße": "https://xn--mnchen-3ya.de/stra%C3%9Fe",
    "https://1.1.1.1/": "https://1.1.1.1/",
}
REFUSED = [
    "ftp://example.com/", "file:///etc/passwd", "javascript:alert(1)", "example.com", "", "https://",
    "https://user:pass@example.com/", "https://user@example.com", "https://example.com@evil.example/",
    "https://example.com:22/", "https://example.com:8080/", "https://example.com:x/", "https://example.com:0/",
    "https://example.com\\@evil.example/", "https://exa mple.com/", "https://example.com/a\nb", "https://[::1]/",
    "https://[::ffff:127.0.0.1]/", "https://2130706433/", "https://0x7f000001/", "https://0x7f.1/", "https://127.1/",
    "https://0177.0.0.1/", "https://017700000001/", "https://example.com./", "https://exam%70le.com/",
    "https://1.2.3.4.5/", "https://256.1.1.1/", "https://" + "a" * 5000, "https://example.com/\x9b2J\u202e",
    "http:169.254.169.254/latest/", "https:example.com/x", "http:2852039166/x", "http:/example.com", "http:///example.com",
]  # fmt: skip
PRIVATE = [
    "127.0.0.1", "127.8.9.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.255.255.250", "255.255.255.255", "240.0.0.1",
    "::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1",
    "2002:7f00:1::", "2002:c0a8:101::1", "fe80::1%eth0", "64:ff9b:1::1", "64:ff9b::a9fe:a9fe", "fec0::1",
    "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a9fe:a9fe", "192.88.99.1", "168.63.129.16", "::ffff:168.63.129.16",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808",
    "2606:4700::5efe:808:808", "168.63.129.17",
]  # fmt: skip


@pytest.mark.parametrize("text", ONE_FORM)
def test_an_address_has_one_form(text: str) -> None:
    assert page_address(text).url == ONE_FORM[text]


@pytest.mark.parametrize("text", REFUSED)
def test_an_odd_address_is_refused(text: str) -> None:
    with pytest.raises(ToolFailed):
        page_address(text)


@pytest.mark.parametrize("place", PRIVATE)
def test_nothing_of_this_machine_or_its_network_is_reached(place: str) -> None:
    with pytest.raises(ToolFailed, match=r"site\.example resolves to .*, which is not on the public network"):
        checked_place("site.example", ["1.1.1.1", place], is_public)


@pytest.mark.parametrize("place", PUBLIC)
def test_the_public_network_is_reached(place: str) -> None:
    assert checked_place("site.example", [place], is_public) == str(ip_address(place))
