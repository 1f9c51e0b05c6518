"""What the package says of a key that it refuses."""

from pushcrypt import Code, DevicePublicKey, ProviderPublicKey, PushcryptError


def text(make: type[DevicePublicKey] | type[ProviderPublicKey]) -> str:
    try:
        make(bytes(33))
    except PushcryptError as error:
        assert error.code == Code.MALFORMED_KEY, error
        return str(error)
    raise AssertionError(f"{make.__name__} takes 33 bytes")


for make, lengths in ((DevicePublicKey, "32 or 1216 bytes, not 33"), (ProviderPublicKey, "32 bytes, not 33")):
    assert lengths in text(make), text(make)
