public import Pushcrypt

/// Makes a key of a suite.
package typealias KeyMaker = @Sendable (CipherSuite) throws(KeyError) -> DeviceKey

extension DeviceState {
    /// The name of an account if the caller gives none: `default`.
    public static let defaultName = "default"
    /// How long a replaced key opens if the caller does not say: 31 days; Apple keeps a push for 30.
    public static let standardGrace = Interval.days(31)
    package static let makeKey: KeyMaker = { (suite) throws(KeyError) in try DeviceKey(suite) }

    // MARK: Accounts

    /// Returns an account; nil if there is none of this name.
    package func account(_ name: String) -> Account? { index(of: name).map { accounts[$0] } }

    package func index(of name: String) -> Int? { accounts.firstIndex { StoreName.areEqual($0.name, name) } }

    /// Returns the account of this name, or the default one.
    ///
    /// - Throws: `unknownName` if it has no keys.
    public func accountWithKeys(_ name: String? = nil) throws(KeyStoreError) -> Account {
        accounts[try indexWithKeys(name)]
    }

    private func indexWithKeys(_ name: String?) throws(KeyStoreError) -> Int {
        guard let name else {
            if let index = accounts.firstIndex(where: { !$0.keys.isEmpty }) { return index }
            throw KeyStoreError(.unknownName, "the store has no device key")
        }
        if let index = index(of: name), !accounts[index].keys.isEmpty { return index }
        throw KeyStoreError(.unknownName, "no device key is named '\(name)'")
    }

    /// Makes an account the default.
    ///
    /// - Throws: `unknownName`.
    package mutating func setDefault(_ name: String) throws(KeyStoreError) {
        accounts.insert(accounts.remove(at: try indexWithKeys(name)), at: 0)
    }

    /// Returns the index of an account, which it makes if there is none; a topic is that of the account from now on.
    package mutating func openAccount(_ name: String, _ topic: Topic?) throws(KeyStoreError) -> Int {
        try StoreName.check(name, "the name of an account")
        guard let index = index(of: name) else {
            accounts.append(Account(name, topic))
            return accounts.count - 1
        }
        if let known = accounts[index].topic, let topic, known != topic {
            throw KeyStoreError(.topicMismatch, "account '\(name)' is for \(known), and not for \(topic)")
        }
        accounts[index].topic = accounts[index].topic ?? topic
        return index
    }

    /// Deletes an account of which nothing is left.
    mutating func dropIfEmpty(_ index: Int) {
        let account = accounts[index]
        if account.keys.isEmpty, account.pins.isEmpty, account.registration == nil { accounts.remove(at: index) }
    }

    /// Deletes an account, for a log-out. What was learned of its providers stays, so that an old certificate is not
    /// believed if the account comes back.
    ///
    /// - Returns: The deleted keys; none for an unknown account, so that a log-out can be repeated.
    @discardableResult
    public mutating func removeAccount(_ name: String) -> [Key] {
        index(of: name).map { accounts.remove(at: $0).keys } ?? []
    }

    // MARK: Keys

    /// Returns the key that an envelope names, if it may open now, with its account.
    package func key(_ id: KeyID, at now: Timestamp) -> (account: Account, key: Key)? {
        for account in accounts {
            // Ids are unique: nothing is decrypted on trial.
            if let key = account.keys.first(where: { $0.keyID == id }) {
                return key.opens(at: now) ? (account, key) : nil
            }
        }
        return nil
    }

    /// Adds the first key of an account: generation 1, active at once.
    ///
    /// - Parameters:
    ///   - key: The key; by default a new one of suite 1.
    ///   - name: The account, which is made if there is none.
    ///   - topic: The app that the account is for; nil for any.
    ///   - now: The present time.
    /// - Throws: `nameTaken`, `invalidName`, `topicMismatch`; `keyIDTaken` if there is this key, or one with its id.
    @discardableResult
    public mutating func add(
        _ key: DeviceKey = DeviceKey(), to name: String = defaultName, topic: Topic? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> Key {
        guard account(name)?.keys.isEmpty ?? true else {
            throw KeyStoreError(.nameTaken, "a device key is already named '\(name)'")
        }
        guard !has(key.publicKey.id) else {
            throw KeyStoreError(
                .keyIDTaken, "the store already holds key \(key.publicKey.id), under this or another name")
        }
        return append(key, .active, generation: 1, to: try openAccount(name, topic), at: now)
    }

    /// Makes the next key of an account: it is pending, and opens from now on, before the provider knows it. If one is
    /// pending already, returns that, so a lost reply is handled by calling again.
    ///
    /// - Parameters:
    ///   - name: The account; nil for the default.
    ///   - suite: The suite; nil for that of the active key. Keys never go back to suite 1.
    ///   - now: The present time.
    /// - Throws: `unknownName`; `suiteDowngrade` for suite 1 after suite 2; `unsupportedSuite`; `rotationRefused` after the
    ///   last generation, or if the pending key is of an earlier suite.
    @discardableResult
    public mutating func rotate(
        _ name: String? = nil, suite: CipherSuite? = nil, at now: Timestamp
    ) throws(KeyStoreError) -> Key {
        try rotate(name, suite: suite, at: now, makeKey: Self.makeKey)
    }

    @discardableResult
    package mutating func rotate(
        _ name: String?, suite: CipherSuite?, at now: Timestamp, makeKey: KeyMaker
    ) throws(KeyStoreError) -> Key {
        let index = try indexWithKeys(name)
        let (name, keys) = (accounts[index].name, accounts[index].keys)
        // A retiring key may be one that the provider refused.
        let strongest = keys.filter { $0.state != .retiring }.map(\.publicKey.suite).max() ?? .x25519
        guard suite ?? strongest >= strongest else {
            throw KeyStoreError(.suiteDowngrade, "'\(name)' has a post-quantum key, and never goes back")
        }
        if let pending = keys.last, pending.state == .pending {
            guard suite ?? .x25519 <= pending.publicKey.suite else {
                throw KeyStoreError(
                    .rotationRefused, "'\(name)' has a pending key of the earlier suite: have it confirmed first")
            }
            return pending
        }
        return try appendNew(suite ?? strongest, to: index, at: now, makeKey)
    }

    /// Makes the pending key of an account active, because the provider has acknowledged it. The active one retires.
    ///
    /// A grace shorter than the time to live of messages under way loses messages.
    ///
    /// - Parameters:
    ///   - name: The account; nil for the default.
    ///   - acknowledged: The key in the provider's reply, pending or refused since; nil for whichever is pending.
    ///   - grace: How long after `now` the replaced key opens.
    ///   - now: The present time.
    /// - Returns: The new active key. Returns nil and changes nothing if another key is pending, or none: a repeated reply
    ///   must not confirm a key that the provider has never seen.
    /// - Throws: `unknownName`.
    @discardableResult
    public mutating func confirm(
        _ name: String? = nil, acknowledged: KeyID? = nil, grace: Interval = standardGrace, at now: Timestamp
    ) throws(KeyStoreError) -> Key? {
        let index = try indexWithKeys(name)
        let active = accounts[index].keys.last { $0.state == .active }?.generation ?? 0
        let place = accounts[index].keys.lastIndex { key in
            switch key.state {
            case .pending: acknowledged == nil || acknowledged == key.keyID
            case .active: false
            // Later than the active one: refused by one of the provider's servers, and known to another.
            case .retiring: acknowledged == key.keyID && key.generation > active
            }
        }
        return place.map { activate($0, of: index, grace: grace, at: now) }
    }

    /// Retires a pending key that its provider has refused. It opens for another 31 days, because another of the provider's
    /// servers may have it. [D-47] [D-49]
    ///
    /// - Returns: Whether it was there: pending, and not the only key.
    package mutating func refuse(_ key: DevicePublicKey, of name: String, at now: Timestamp) -> Bool {
        guard let index = index(of: name), accounts[index].keys.count > 1,
            let last = accounts[index].keys.indices.last, accounts[index].keys[last].state == .pending,
            accounts[index].keys[last].publicKey == key
        else { return false }
        accounts[index].keys[last].state = .retiring
        accounts[index].keys[last].retiresAt = now.adding(Self.standardGrace)
        return true
    }

    /// Makes the key that follows one which the provider refuses, pending. A refused pending key retires; a refused active one
    /// opens on. Returns the pending key if it is not the refused one.
    @discardableResult
    package mutating func replace(
        _ key: DevicePublicKey, of name: String, suite: CipherSuite, at now: Timestamp, makeKey: KeyMaker
    ) throws(KeyStoreError) -> Key {
        let index = try indexWithKeys(name)
        if let pending = accounts[index].keys.last, pending.state == .pending {
            guard pending.publicKey == key else { return pending }
            // The only key of an account is never pending.
            _ = refuse(key, of: name, at: now)
        }
        return try appendNew(suite, to: index, at: now, makeKey)
    }

    /// Deletes the retired keys of an account, or of all, that ended before a time. 24 hours before the present leave room for
    /// clocks.
    @discardableResult
    public mutating func purge(_ name: String? = nil, endedBefore time: Timestamp) -> [Key] {
        var purged: [Key] = []
        for index in accounts.indices where name.map({ StoreName.areEqual($0, accounts[index].name) }) ?? true {
            let isOver = { (key: Key) in key.retiresAt.map { $0 < time } ?? false }
            purged += accounts[index].keys.filter(isOver)
            accounts[index].keys.removeAll(where: isOver)
        }
        return purged
    }

    // MARK: Steps

    private func has(_ id: KeyID) -> Bool { accounts.contains { $0.keys.contains { $0.keyID == id } } }

    private mutating func appendNew(
        _ suite: CipherSuite, to index: Int, at now: Timestamp, _ makeKey: KeyMaker
    ) throws(KeyStoreError) -> Key {
        let (generation, overflow) = (accounts[index].keys.last?.generation ?? 0).addingReportingOverflow(1)
        guard !overflow else {
            throw KeyStoreError(
                .rotationRefused, "this key has the last possible generation: create one under a new name")
        }
        return append(try newKey(suite, makeKey), .pending, generation: generation, to: index, at: now)
    }

    /// Makes a key whose id no other has.
    package func newKey(_ suite: CipherSuite, _ makeKey: KeyMaker) throws(KeyStoreError) -> DeviceKey {
        while true {
            guard let key = try? makeKey(suite) else { throw .unsupportedSuite }
            if !has(key.publicKey.id) { return key }
        }
    }

    private mutating func append(
        _ key: DeviceKey, _ state: Key.State, generation: UInt64, to index: Int, at now: Timestamp
    ) -> Key {
        let key = Key(
            publicKey: key.publicKey, generation: generation, state: state, createdAt: now,
            secret: key.withScalar { Secret(copying: $0) })
        accounts[index].keys.append(key)
        return key
    }

    private mutating func activate(_ place: Int, of index: Int, grace: Interval, at now: Timestamp) -> Key {
        for other in accounts[index].keys.indices where accounts[index].keys[other].state == .active {
            accounts[index].keys[other].state = .retiring
            accounts[index].keys[other].retiresAt = now.adding(grace)
        }
        accounts[index].keys[place].state = .active
        accounts[index].keys[place].retiresAt = nil
        return accounts[index].keys[place]
    }

    /// Makes a key active that has opened a message, if it is pending.
    mutating func activate(_ key: DevicePublicKey, grace: Interval, at now: Timestamp) {
        for index in accounts.indices {
            guard let place = accounts[index].keys.firstIndex(where: { $0.publicKey == key && $0.state == .pending })
            else { continue }
            _ = activate(place, of: index, grace: grace, at: now)
        }
    }

    /// Deletes an account's keys, and the key that signs its records.
    package mutating func forgetKeys(of index: Int) { (accounts[index].keys, accounts[index].updateKey) = ([], nil) }

    package mutating func setRegistration(_ registration: Registration, of index: Int) {
        accounts[index].registration = registration
    }

    /// Changes an account's registration, if it has one.
    package mutating func changeRegistration(of index: Int, _ body: (inout Registration) -> Void) {
        guard var registration = accounts[index].registration else { return }
        body(&registration)
        accounts[index].registration = registration
    }

    // MARK: Update keys

    /// Returns the key under which the device signs an account's records, making one the first time.
    package mutating func updateKey(of index: Int) throws(KeyStoreError) -> SigningKey {
        if let known = accounts[index].updateKey { return try known.signingKey() }
        let key = SigningKey()
        accounts[index].updateKey = UpdateKey(
            publicKey: key.publicKey, secret: key.withSeed { Secret(copying: $0) })
        return key
    }
}
