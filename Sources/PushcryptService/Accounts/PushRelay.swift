internal import Pushcrypt

/// The relay of the app's publisher, for an app whose users have their own servers: the phone gives its token to the relay, and
/// each server only a grant. (`Docs/SelfHosted.md`)
public struct PushRelay: Hashable, Sendable {
    let origin: RelayOrigin
    let kinds: [String]

    /// Creates a relay.
    ///
    /// - Parameters:
    ///   - origin: Its address, as its configuration has it: `https://push.example.com`, without a path. It is built into the app;
    ///     another text is a programmer's error. For tests also `http` with an address of this machine or a private network.
    ///   - allowsBackgroundPushes: Whether servers may send background pushes too, at most 3 an hour. The relay must offer them.
    public init(_ origin: String, allowsBackgroundPushes: Bool = false) {
        guard let origin = RelayOrigin(origin) else {
            preconditionFailure("a relay's origin is like https://push.example.com, without a path")
        }
        self.origin = origin
        kinds = allowsBackgroundPushes ? ["alert", "background"] : ["alert"]
    }
}
