"""What the package says of a key that it refuses."""

from pushcrypt import Code, DevicePublicKey, PushcryptError, SenderPublicKey


def text(make: type[DevicePublicKey] | type[SenderPublicKey]) -> str:
    try:
        make(bytes(33))
    except PushcryptError as error:
        assert error.code == Code.MALFORMED_KEY, error
        return str(error)
    raise AssertionError(f"{make.__name__} takes 33 bytes")


for make, lengths in ((DevicePublicKey, "32 or 1216 bytes, not 33"), (SenderPublicKey, "32 bytes, not 33")):
    assert lengths in text(make), text(make)
