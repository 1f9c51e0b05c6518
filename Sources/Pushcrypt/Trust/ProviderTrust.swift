/// The provider keys that one account of an app trusts, and what the phone has learnt about each.
///
/// A pure value. Keys are pinned by the app, by an import, or from the first reply of a provider, but never by a message.
/// (`Docs/FormatTrust.md`)
public struct ProviderTrust: Hashable, Sendable {
    /// The maximum number of pins: two only while an app changes its provider key by a release. (T-5)
    package static let maximumPins = 2

    /// A pinned key.
    package struct Pin: Hashable, Sendable {
        package let key: ProviderPublicKey
        /// The phone's knowledge of the key for this app, from any account.
        package internal(set) var learned: LearnedTrust

        package init(_ key: ProviderPublicKey, _ learned: LearnedTrust = LearnedTrust()) {
            self.key = key
            self.learned = learned
        }
    }

    /// The effect of a certificate.
    public enum Change: Hashable, Sendable {
        /// None: the phone knew as much before.
        case unchanged
        /// A later epoch or a higher floor.
        case raised
        /// The phone knows another certificate of the same epoch. Both open, the higher is kept, and the app should report
        /// it: two machines have certified, or the provider key was stolen.
        case conflict
    }

    /// The pins, at most 2, in the order in which they are tried.
    package private(set) var pins: [Pin]

    /// Creates a value from stored pins, at most 2; more is a programming error and traps.
    package init(_ pins: [Pin]) {
        precondition(pins.count <= Self.maximumPins, "an account has at most 2 pins")
        self.pins = pins
    }

    /// Creates a value from keys, at most 2; more is a programming error and traps. With none, nothing opens.
    public init(pinned keys: [ProviderPublicKey]) { self.init(keys.map { Pin($0) }) }

    /// Creates a value from a key and its current certificate, as an app builds them in.
    ///
    /// - Throws: `weakKey` or `badSignature` if the certificate is not of this key for this app.
    public init(
        pinned key: ProviderPublicKey, certificate: Certificate, for topic: Topic
    ) throws(TrustError) {
        try certificate.check(for: key, topic: topic)
        self.init([Pin(key, LearnedTrust(certificate))])
    }

    /// The keys.
    public var pinned: [ProviderPublicKey] { pins.map(\.key) }

    /// Learns a certificate from a reply or a record, for the first pin that verifies it. (T-1 to T-3)
    ///
    /// - Throws: `weakKey` or `badSignature` if it is of none of the pins.
    public mutating func accept(_ certificate: Certificate, for topic: Topic) throws(TrustError) -> Change {
        var failure = TrustError.badSignature
        for index in pins.indices {
            do throws(TrustError) {
                try certificate.check(for: pins[index].key, topic: topic)
                let change: Change
                (pins[index].learned, change) = pins[index].learned.learning(certificate)
                return change
            } catch {
                if error.code == .weakKey { failure = error }
            }
        }
        throw failure
    }
}
