"""What an address is for: the registries of special addresses, in words.

Pure, and our own list, because Python's `is_global` differs between releases. An address that stands in none
of these networks is one of the public web.
"""

import ipaddress
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# The special-purpose registries of IANA, and the addresses from which clouds hand out keys. The narrower
# network stands first: its word is the better one.
SPECIAL: tuple[tuple[Network, str], ...] = tuple(
    (ipaddress.ip_network(network), word)
    for network, word in (
        ("169.254.169.254/32", "the metadata service of a cloud"),
        ("169.254.170.2/32", "the metadata service of a cloud"),
        ("100.100.100.200/32", "the metadata service of a cloud"),
        ("168.63.129.16/32", "the metadata service of a cloud"),
        ("192.0.0.192/32", "the metadata service of a cloud"),
        ("0.0.0.0/8", "this machine or network"),
        ("10.0.0.0/8", "a private network"),
        ("100.64.0.0/10", "a carrier's shared network"),
        ("127.0.0.0/8", "this machine (loopback)"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "a private network"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation only"),
        ("192.31.196.0/24", "reserved for protocols"),
        ("192.52.193.0/24", "reserved for protocols"),
        ("192.88.99.0/24", "a retired relay"),
        ("192.168.0.0/16", "a private network"),
        ("192.175.48.0/24", "reserved for protocols"),
        ("198.18.0.0/15", "for benchmarks only"),
        ("198.51.100.0/24", "for documentation only"),
        ("203.0.113.0/24", "for documentation only"),
        ("224.0.0.0/4", "multicast"),
        ("255.255.255.255/32", "broadcast"),
        ("240.0.0.0/4", "reserved"),
        ("fd00:ec2::254/128", "the metadata service of a cloud"),
        ("fd20:ce::254/128", "the metadata service of a cloud"),
        ("::/128", "this machine or network"),
        ("::1/128", "this machine (loopback)"),
        ("::/96", "an IPv4 address in disguise"),
        ("::ffff:0:0:0/96", "an IPv4 address in disguise"),
        ("64:ff9b:1::/48", "a local translation to IPv4"),
        ("100::/64", "a black hole"),
        ("2001::/32", "a tunnel to an unknown IPv4 address (Teredo)"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation only"),
        ("2002::/16", "a tunnel to an IPv4 address (6to4)"),
        ("2620:4f:8000::/48", "reserved for protocols"),
        ("3fff::/20", "for documentation only"),
        ("5f00::/16", "reserved for routing"),
        ("fc00::/7", "a private network"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "a private network"),
        ("ff00::/8", "multicast"),
    )
)
V6_GLOBAL = ipaddress.IPv6Network("2000::/3")  # everything else of IPv6 is not handed out to anybody
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# What a host allowed by name may be. A name never opens the way to a metadata service; only its address in
# writing does.
OWN = {"this machine (loopback)", "a private network", "a carrier's shared network"}


@lru_cache(maxsize=4_096)
def why_not(ip: str) -> str | None:
    """Why this address is not one of the public web; None where it is."""
    address = meant(ip)
    if address is None:
        return "not an address that can be judged"
    word = next(
        (word for network, word in SPECIAL if network.version == address.version and address in network), None
    )
    if word is None and address.version == 6 and address not in V6_GLOBAL:
        return "reserved"
    return word


def meant(ip: str) -> Address | None:
    """The address a connection would end at: an IPv4 address inside an IPv6 one is taken out. None for
    nonsense and zones.
    """
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.scope_id:
        return None
    if address.ipv4_mapped:
        return address.ipv4_mapped
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in NAT64 else address
