// One import for an app and its extensions: the modules below.
@_exported public import Pushcrypt
@_exported public import PushcryptKeyStore
@_exported public import PushcryptReceiver
@_exported public import PushcryptService
