package import Pushcrypt

// What an installation keeps of its app's relay. (`Docs/Relay.md`, Grants)
extension EnrolmentState {
    /// A relay's permission to push to this phone, which is in an account's records. Without the server's push key it is useless.
    package struct Grant: Hashable, Sendable {
        package let text: String
        /// The key of the server that may push.
        package let pushKey: SigningPublicKey
        /// A digest of the token that it is for. Without the token it cannot be revoked; then the token is gone, too.
        let address: String
        let issuedAt: Timestamp
        let endsAt: Timestamp

        /// The longest life of a grant.
        private static let longestLife = Interval.days(180)
        /// When the phone renews it.
        private static let renewalAge = Interval.days(7)

        package init(
            _ text: String, _ pushKey: SigningPublicKey, for address: PushAddress, at now: Timestamp,
            until end: Timestamp
        ) {
            self.text = text
            self.pushKey = pushKey
            self.address = address.digest
            issuedAt = now
            endsAt = min(end, now.adding(Self.longestLife))
        }

        /// Whether a server with this key can push to this address.
        package func serves(_ pushKey: SigningPublicKey?, at address: PushAddress, at now: Timestamp) -> Bool {
            self.pushKey == pushKey && self.address == address.digest && now < endsAt
        }

        /// Whether it is old, or a clock that was set back does not tell how old.
        package func isOld(at now: Timestamp) -> Bool { now < issuedAt || issuedAt.adding(Self.renewalAge) <= now }
    }

    /// What there is of a relay, besides the accounts' grants.
    struct Relay: Hashable, Sendable {
        /// Where the grants come from.
        let origin: String
        /// Whether an earlier installation may have left grants.
        var endsAll = false
        /// Grants of accounts that have left, or of a server's earlier push key.
        var ended: [Grant] = []
    }

    /// The most grants of an account that live at a time, one a week, with room for servers that change their push keys.
    private static let mostGrants = 32
    /// The most grants that wait for their end.
    private static let mostEnded = 256

    // MARK: The relay

    /// Whether all grants of the token have to end before the next is issued.
    package var endsAllGrants: Bool { relay?.endsAll ?? false }

    /// Makes a relay the installation's. What another one issued is forgotten: the phone posts its token to none but the app's.
    package mutating func use(_ origin: RelayOrigin) {
        guard relay?.origin != origin.description else { return }
        relay = Relay(origin: origin.description)
        for index in accounts.indices { accounts[index].grants = [] }
    }

    /// Notes that an earlier installation may have left grants at the relay.
    package mutating func endAllGrants() { relay?.endsAll = true }

    /// Notes that all grants of the token have ended: also those that the accounts have, if another object of the app was faster.
    package mutating func noteAllEnded() {
        relay?.endsAll = false
        for index in accounts.indices { accounts[index].grants = [] }
    }

    // MARK: Grants of accounts

    /// Whether there is an account of this name.
    package func has(_ name: String) -> Bool { account(name) != nil }

    /// The push key of an account's server; nil if it uses no relay.
    package func pushKey(of name: String) -> SigningPublicKey? { account(name)?.pushKey }

    /// The newest grant of an account.
    package func grant(of name: String) -> Grant? { account(name)?.grants.last }

    /// Notes a grant for an account's server, which the account's next record has.
    package mutating func add(_ grant: Grant, to name: String, at now: Timestamp) {
        guard let index = index(of: name) else { return }
        // A server may keep what it had, so all of them end when the account leaves.
        let earlier = accounts[index].grants.filter { now < $0.endsAt }
        end(earlier.dropLast(Self.mostGrants - 1))
        accounts[index].grants = earlier.suffix(Self.mostGrants - 1) + [grant]
    }

    /// Notes an account's push key, which its server has named, and lets the grants for another one end.
    mutating func setPushKey(_ pushKey: SigningPublicKey?, of name: String) {
        guard let index = index(of: name) else { return }
        accounts[index].pushKey = pushKey
        end(accounts[index].grants.filter { $0.pushKey != pushKey })
        accounts[index].grants.removeAll { $0.pushKey != pushKey }
    }

    /// Forgets a grant that the relay has ended, so that another is fetched.
    mutating func removeGrant(_ text: String, of name: String) {
        guard let index = index(of: name) else { return }
        accounts[index].grants.removeAll { $0.text == text }
    }

    /// Lets grants end.
    mutating func end(_ grants: some Sequence<Grant>) {
        guard let ended = relay?.ended else { return }
        relay?.ended = (ended + grants).suffix(Self.mostEnded)
    }

    /// Returns a grant that has to end, and forgets those that have. One for another token waits for that token.
    package mutating func nextEnded(at address: PushAddress, at now: Timestamp) -> Grant? {
        relay?.ended.removeAll { $0.endsAt <= now }
        return relay?.ended.first { $0.address == address.digest }
    }

    /// Notes that a grant has ended.
    package mutating func removeEnded(_ grant: Grant) { relay?.ended.removeAll { $0 == grant } }
}

// MARK: JSON

extension EnrolmentState.Relay {
    init(_ value: JSONValue) throws(EnrolmentStateError) {
        guard let origin = value["origin"]?.string, let endsAll = value["ends_all"]?.bool else { throw .damaged }
        self.init(origin: origin, endsAll: endsAll, ended: try EnrolmentState.Grant.array(value["ended"]))
    }

    func write(to json: inout JSONWriter) {
        json.object(for: "relay") { json in
            json.string(origin, for: "origin")
            json.bool(endsAll, for: "ends_all")
            EnrolmentState.Grant.write(ended, for: "ended", to: &json)
        }
    }
}

extension EnrolmentState.Grant {
    static func array(_ value: JSONValue?) throws(EnrolmentStateError) -> [Self] {
        guard let value else { return [] }
        guard value.kind == .array else { throw .damaged }
        var grants: [Self] = []
        for element in value.elements { grants.append(try Self(element)) }
        return grants
    }

    private init(_ value: JSONValue) throws(EnrolmentStateError) {
        guard let text = value["grant"]?.string, DeviceRegistration.isGrant(text),
            let pushKey = value["push_key"]?.string.flatMap({ try? SigningPublicKey(text: $0) }),
            let address = value["address"]?.string,
            let issued = value["issued"]?.integer.flatMap(UInt64.init(exactly:)),
            let ends = value["ends"]?.integer.flatMap(UInt64.init(exactly:))
        else { throw .damaged }
        self.text = text
        self.pushKey = pushKey
        self.address = address
        issuedAt = Timestamp(milliseconds: issued)
        endsAt = Timestamp(milliseconds: ends)
    }

    static func write(_ grants: [Self], for name: String, to json: inout JSONWriter) {
        guard !grants.isEmpty else { return }
        json.array(for: name) { json in
            for grant in grants {
                json.object { json in
                    json.string(grant.text, for: "grant")
                    json.string(grant.pushKey.text, for: "push_key")
                    json.string(grant.address, for: "address")
                    json.integer(grant.issuedAt.milliseconds, for: "issued")
                    json.integer(grant.endsAt.milliseconds, for: "ends")
                }
            }
        }
    }
}
