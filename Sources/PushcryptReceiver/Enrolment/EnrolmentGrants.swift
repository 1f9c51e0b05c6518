package import Pushcrypt
package import PushcryptKeyStore

// A relay's grants. (`Docs/Relay.md`, Grants)
extension DeviceState {
    /// The most grants of an account that live at a time, one a week, with room for servers that change their push
    /// keys.
    private static let mostGrants = 32
    /// The most grants that wait for their end.
    private static let mostEnded = 64

    /// Makes a relay that of the app. What another one issued is forgotten: the phone posts its token to none but the
    /// app's.
    package mutating func use(_ origin: RelayOrigin) {
        guard relay?.origin != origin.description else { return }
        // An earlier installation may have left grants.
        relay = Relay(origin: origin.description, endsAll: relay == nil)
        for index in accounts.indices { changeRegistration(of: index) { $0.grants = [] } }
    }

    /// Notes that the grants for an address have ended, all that there were when the relay was asked. One that
    /// another object of the app has got since may be later, or not: it ends by itself.
    package mutating func noteAllEnded(_ all: [Grant]) {
        relay?.endsAll = false
        forget(all)
        for index in accounts.indices { endGrants(of: index) { $0.address == all.last?.address } }
    }

    /// Forgets grants that have ended, or never will.
    package mutating func forget(_ grants: [Grant]) {
        relay?.ended.removeAll(where: grants.contains)
        for index in accounts.indices { changeRegistration(of: index) { $0.grants.removeAll(where: grants.contains) } }
    }

    /// The grant for an account's record: the newest for its server's present push key.
    package func grant(of name: String) -> Grant? {
        guard let registration = account(name)?.registration else { return nil }
        return registration.grants.last { $0.pushKey == registration.pushKey }
    }

    /// The push key of an account's server for which a grant has to be fetched: there is none for this phone as it is
    /// now, or an old one.
    package func pushKeyWithoutGrant(of name: String, at address: PushAddress, at now: Timestamp) -> SigningPublicKey? {
        guard let registration = account(name)?.registration else { return nil }
        return [registration.pushKey, registration.nextPushKey].compactMap(\.self).first { key in
            !registration.grants.contains { $0.serves(key, at: address, at: now) && !$0.isOld(at: now) }
        }
    }

    /// The grants for this phone as it is now, those of accounts last.
    package func grants(at address: PushAddress, at now: Timestamp) -> [Grant] {
        let all = (relay?.ended ?? []) + accounts.flatMap { $0.registration?.grants ?? [] }
        return all.filter { $0.address == address.digest && now < $0.endsAt }
    }

    /// Keeps a grant, which the account's next record has.
    package mutating func add(_ grant: Grant, to name: String, at now: Timestamp) {
        guard let index = index(of: name), let registration = accounts[index].registration else { return end([grant]) }
        // A server may keep what it had: all of them end when the account leaves.
        let earlier = registration.grants.filter { now < $0.endsAt }
        end(earlier.dropLast(Self.mostGrants - 1))
        changeRegistration(of: index) { $0.grants = earlier.suffix(Self.mostGrants - 1) + [grant] }
    }

    /// Notes the push keys that an account's server has named, and lets the grants for others end. [D-52]
    mutating func setPushKeys(_ pushKey: SigningPublicKey?, _ next: SigningPublicKey?, of index: Int) {
        changeRegistration(of: index) { ($0.pushKey, $0.nextPushKey) = (pushKey, next) }
        endGrants(of: index) { $0.pushKey != pushKey && $0.pushKey != next }
    }

    /// Lets grants of an account end that meet a condition, so that others are fetched.
    mutating func endGrants(of index: Int, where isOver: (Grant) -> Bool) {
        end(accounts[index].registration?.grants.filter(isOver) ?? [])
        changeRegistration(of: index) { $0.grants.removeAll(where: isOver) }
    }

    /// Lets grants end.
    mutating func end(_ grants: some Sequence<Grant>) {
        guard var relay else { return }
        relay.ended += grants
        if relay.ended.count > Self.mostEnded { relay.endsAll = true }
        relay.ended = relay.ended.suffix(Self.mostEnded)
        self.relay = relay
    }

    /// Returns a grant that has to end.
    package func nextEnded(at now: Timestamp) -> Grant? { relay?.ended.first { now < $0.endsAt } }

    /// Notes that a grant has ended, and forgets those that have ended by themselves.
    package mutating func noteEnded(_ grant: Grant, at now: Timestamp) {
        relay?.ended.removeAll { $0 == grant || $0.endsAt <= now }
    }

    /// Lets the others end first, because the relay refuses to end this one.
    package mutating func postpone(_ grant: Grant) {
        guard let index = relay?.ended.firstIndex(of: grant) else { return }
        relay?.ended.remove(at: index)
        relay?.ended.append(grant)
    }
}

extension DeviceState.Grant {
    /// The longest life of a grant.
    private static let longestLife = Interval.days(180)
    /// When the phone renews it.
    private static let renewalAge = Interval.days(7)

    package init(
        _ text: String, secret: String, _ pushKey: SigningPublicKey, for address: PushAddress, at now: Timestamp,
        until end: Timestamp
    ) {
        self.init(
            text, secret: secret, pushKey, address: address.digest, issuedAt: now,
            endsAt: min(end, now.adding(Self.longestLife)))
    }

    /// Whether a server with this key can push to this address.
    package func serves(_ pushKey: SigningPublicKey?, at address: PushAddress, at now: Timestamp) -> Bool {
        self.pushKey == pushKey && self.address == address.digest && now < endsAt
    }

    /// Whether it is old, or a clock that was set back does not tell how old.
    func isOld(at now: Timestamp) -> Bool { now < issuedAt || issuedAt.adding(Self.renewalAge) <= now }
}
