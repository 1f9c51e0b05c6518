package import Pushcrypt
internal import PushcryptKeyStore

/// An installation's record of its registrations; it holds no key and no push token. Someone who has it can only deliver the
/// ends of devices that have logged out. A relay's grants in it are useless without the server's push key.
///
/// The app keeps it as a file in its own container, which is deleted with the app while the Keychain stays: a device
/// key without this file was left by an earlier installation. Exclude the file from backups, protect it with
/// `completeUntilFirstUserAuthentication`, and replace it in one step (`Data.WritingOptions.atomic`).
package struct EnrolmentState: Hashable, Sendable {
    /// A report to the provider about one account.
    struct Report: Hashable, Sendable {
        var publicKey: DevicePublicKey
        /// The pin; the first of two.
        var provider: ProviderPublicKey?
        var appVersion: AppVersion?
        /// A digest of the push token; nil if none was known.
        var token: String?
        var environment: PushEnvironment?
        /// A digest of the relay's grant.
        var grant: String?
        var alertsAreShown: Bool
    }

    /// A report that the provider has acknowledged.
    struct Acknowledgement: Hashable, Sendable {
        var report: Report
        /// When; nil if the provider has refused a later record, and may have nothing of the account any more.
        var at: Timestamp?
    }

    /// One account's registration.
    struct Account: Hashable, Sendable {
        let name: String
        /// The id under which the provider stores this account of this installation.
        let device: String
        /// The sequence of the last record.
        var sequence: UInt64 = 0
        /// Where the account's posts go, if it was paired by a code; nil if they go over the app's channel.
        var address: String?
        /// When a refusal last made the account's next key.
        var keyMadeAt: Timestamp?
        var acknowledged: Acknowledgement?
        /// Whether the last reply permits a key of suite 2, or the account had one under an earlier id.
        var permitsPostQuantum = false
        /// When the provider last refused a key of suite 2.
        var postQuantumRefusedAt: Timestamp?
        /// The key with which the provider signs requests to a relay.
        var pushKey: SigningPublicKey?
        /// The grants that live, the newest last.
        var grants: [Grant] = []

        /// Whether the provider has sealed to a key of suite 2.
        var hasChangedOver: Bool { acknowledged?.report.publicKey.suite == .xwing }

        /// Whether the account's next first key is of suite 2.
        var isPostQuantum: Bool { permitsPostQuantum || hasChangedOver }

        /// Whether a new key of suite 2 may be tried: 30 days after a refusal.
        func mayTryPostQuantum(at now: Timestamp) -> Bool {
            // A clock that was set back does not tell how long ago it was.
            postQuantumRefusedAt.map { now < $0 || $0.adding(.days(30)) <= now } ?? true
        }
    }

    /// An account that has lost its device id, and begins again with a key of suite 2. [D-47]
    struct ChangedOver: Hashable, Sendable {
        let name: String
        var refusedAt: Timestamp?
    }

    /// The maximum number of ends that wait.
    static let maximumEnds = 64

    var accounts: [Account] = []
    var changedOver: [ChangedOver] = []
    var relay: Relay?

    /// The end of a device, signed when its account logged out, which the provider has to hear of. [D-51]
    package struct End: Hashable, Sendable {
        /// The account that it was.
        package let account: String
        /// The end, which names the device and the provider key.
        package let record: SignedRecord
        /// Where to post it; nil for the app's channel.
        package let address: String?

        /// The id of the device.
        package var device: String { record.device }
    }

    /// What the app has to tell providers, oldest first; it then calls `removeEnd(of:)`.
    package internal(set) var ends: [End] = []

    /// Creates an empty state; for an app that has used its key store without enrolment before, and wants to keep those
    /// keys.
    package init() {}

    /// Records that the provider knows of an end.
    package mutating func removeEnd(of device: String) { ends.removeAll { $0.device == device } }

    /// Makes an address the one that all of an account's posts go to: the account was paired. A record follows, because the server
    /// stores nothing of a request that comes again. [P-6]
    package mutating func setAddress(_ address: String, of name: String) {
        guard let index = index(of: name) else { return }
        accounts[index].address = address
        forgetAcknowledgement(of: name)
    }

    /// The address of a paired account.
    package func address(of name: String) -> String? { account(name)?.address }

    /// Draws the sequence of an account's next record: above the last one, and by the clock above that of a copy of the state. [D-45]
    mutating func nextSequence(of name: String, at now: Timestamp) -> UInt64 {
        guard let index = index(of: name) else { return 1 }
        let clock = now <= .latestOfAClock ? now.milliseconds : 0
        accounts[index].sequence = min(max(accounts[index].sequence + 1, clock), DeviceEnd.sequence - 1)
        return accounts[index].sequence
    }

    /// Takes the sequence of the provider's record, so that the next one is later; a foreign one cannot use them up. [D-46]
    mutating func raiseSequence(to told: UInt64, of name: String) {
        guard let index = index(of: name) else { return }
        let own = accounts[index].sequence
        accounts[index].sequence = max(own, min(told, own + 1 << 40))
    }

    /// Records that the provider may have nothing of an account. That it has changed over stays known. [D-47] [D-50]
    mutating func forgetAcknowledgement(of name: String) {
        guard let index = index(of: name) else { return }
        accounts[index].acknowledged?.at = nil
    }

    /// Whether a refusal may make another key, at most one a day. [D-49]
    func mayMakeKey(of name: String, at now: Timestamp) -> Bool {
        guard let last = account(name)?.keyMadeAt else { return true }
        return now < last || last.adding(.days(1)) <= now
    }

    /// Notes that a refusal has made an account's next key.
    mutating func noteKeyMade(of name: String, at now: Timestamp) {
        guard let index = index(of: name) else { return }
        accounts[index].keyMadeAt = now
    }

    // MARK: Accounts

    func account(_ name: String) -> Account? { index(of: name).map { accounts[$0] } }

    func index(of name: String) -> Int? { accounts.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }

    /// Returns the device id of an account, creating one if it has none.
    mutating func deviceID(of name: String) -> String { deviceAccount(named: name).device }

    /// Returns an account, creating it if there is none.
    mutating func deviceAccount(named name: String) -> Account {
        if let account = account(name) { return account }
        // 16 random bytes: no other installation has the same.
        let device = Sodium.randomBytes(16).hex
        var account = Account(name: name, device: device)
        if let index = changedOver.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            account.permitsPostQuantum = true
            account.postQuantumRefusedAt = changedOver.remove(at: index).refusedAt
        }
        accounts.append(account)
        return account
    }

    mutating func acknowledge(_ report: Report, _ reply: RegistrationReply, by name: String, at now: Timestamp) {
        guard let index = index(of: name) else { return }
        accounts[index].acknowledged = Acknowledgement(report: report, at: now)
        accounts[index].permitsPostQuantum = reply.suites.contains(CipherSuite.xwing.rawValue)
        setPushKey(reply.pushKey, of: name)
    }

    /// Records that the provider cannot seal to a key of suite 2.
    mutating func refusePostQuantum(by name: String, at now: Timestamp) {
        guard let index = index(of: name) else { return }
        accounts[index].postQuantumRefusedAt = now
    }

    /// Removes an account.
    ///
    /// - Parameters:
    ///   - end: What the provider should hear of; nil if another phone may still use the id.
    ///   - changesOver: Whether the account begins again with a key of suite 2; nil for a log-out.
    mutating func remove(_ name: String, end record: SignedRecord?, changesOver: Bool? = nil) {
        if changesOver == nil { changedOver.removeAll { $0.name.utf8.elementsEqual(name.utf8) } }
        guard let index = index(of: name) else { return }
        let account = accounts.remove(at: index)
        if let changesOver, changesOver || account.isPostQuantum {
            // A refusal delays a change, and is no way back.
            changedOver.append(
                ChangedOver(name: name, refusedAt: account.hasChangedOver ? nil : account.postQuantumRefusedAt))
        }
        end(account.grants)
        if let record { add(record, of: name, at: account.address) }
    }

    /// Adds the end of a device, which the provider has to hear of.
    mutating func add(_ end: SignedRecord, of name: String, at address: String?) {
        ends.append(End(account: name, record: end, address: address))
        ends.removeFirst(max(0, ends.count - Self.maximumEnds))
    }
}

extension EnrolmentState.Report {
    /// Returns a digest that distinguishes tokens or grants, and from which they cannot be computed.
    static func digest(of bytes: ContiguousArray<UInt8>) -> String {
        ContiguousArray(SHA256.digest(bytes.span).prefix(16)).hex
    }
}

/// An error in an enrolment state. Errors are equal if their codes are.
package struct EnrolmentStateError: CodedError {
    /// The reason for the error.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Known: String, CaseIterable {
            case newerState = "newer-enrolment"
            case damagedState = "damaged-enrolment"
        }

        private let known: Known

        /// It was written by a newer version of the app.
        package static let newerState = Code(known: .newerState)
        /// It is damaged: truncated or changed.
        package static let damagedState = Code(known: .damagedState)

        /// Every code.
        package static var allCases: [Code] { Known.allCases.map(Code.init(known:)) }

        /// The code as programs read it, for example `newer-enrolment`.
        package var description: String { known.rawValue }
    }

    /// The reason.
    package let code: Code
    /// A description of what happened, and what to do.
    package let description: String

    static let newer = EnrolmentStateError(
        code: .newerState,
        description: "the enrolment state was written by a newer version of the app: leave it, and update the app")
    static let damaged = EnrolmentStateError(
        code: .damagedState,
        description: "the enrolment state is damaged: write it in one step; every account registers again")
}

// One object:
//
//     {"version":1,
//      "accounts":[{"name":"…","device":"32 hex digits","sequence":…,"address":"…","key_made":…,
//                   "post_quantum":true,"post_quantum_refused":…,
//                   "acknowledged":{"public_key":"pcr1…","provider":"pcs1…","app_version":"…","token":"32 hex digits",
//                                   "environment":"…","grant":"32 hex digits","alerts":true,"at":…},
//                   "push_key":"…","grants":[GRANT]}],
//      "ends":[{"account":"…","post":{"record":"…","signature":"…"},"address":"…"}],
//      "relay":{"origin":"…","ends_all":false,"ended":[GRANT]},
//      "changed_over":[{"name":"…","refused":…}]}
//
// A GRANT is {"grant":"…","push_key":"…","address":"32 hex digits","issued":…,"ends":…}.
extension EnrolmentState {
    private static let version = 1

    /// Parses a state as written by `json`; throws `newerState` or `damagedState`.
    package init(json: ContiguousArray<UInt8>) throws(EnrolmentStateError) {
        guard let root = try? JSONDocument(parsing: json).root, let version = root["version"]?.integer, version >= 1
        else { throw .damaged }
        guard version == Self.version else { throw .newer }
        guard let accounts = root["accounts"], accounts.kind == .array, let ends = root["ends"], ends.kind == .array
        else { throw .damaged }
        self.init()
        for value in accounts.elements {
            let account = try Account(value)
            guard self.account(account.name) == nil else { throw .damaged }
            self.accounts.append(account)
        }
        for value in ends.elements {
            guard let account = value["account"]?.string, let post = value["post"],
                case .record(let record)? = try? PhonePost(json: post.minified(), over: .open),
                case .end = record.content
            else { throw .damaged }
            self.ends.append(End(account: account, record: record, address: try value.read("address") { $0 }))
        }
        if let relay = root["relay"] { self.relay = try Relay(relay) }
        guard let changedOver = root["changed_over"] else { return }
        guard changedOver.kind == .array else { throw .damaged }
        for value in changedOver.elements {
            guard let name = value["name"]?.string else { throw .damaged }
            self.changedOver.append(ChangedOver(name: name, refusedAt: try value.time("refused")))
        }
    }

    /// The state as minified JSON.
    package var json: ContiguousArray<UInt8> {
        var json = JSONWriter()
        json.object { json in
            json.integer(Self.version, for: "version")
            json.array(for: "accounts") { json in for account in accounts { account.write(to: &json) } }
            json.array(for: "ends") { json in
                for end in ends {
                    json.object { json in
                        json.string(end.account, for: "account")
                        json.raw(end.record.body, for: "post")
                        if let address = end.address { json.string(address, for: "address") }
                    }
                }
            }
            relay?.write(to: &json)
            guard !changedOver.isEmpty else { return }
            json.array(for: "changed_over") { json in
                for account in changedOver {
                    json.object { json in
                        json.string(account.name, for: "name")
                        if let refusedAt = account.refusedAt { json.integer(refusedAt.milliseconds, for: "refused") }
                    }
                }
            }
        }
        return json.bytes
    }
}

extension EnrolmentState.Account {
    fileprivate init(_ value: JSONValue) throws(EnrolmentStateError) {
        guard let name = value["name"]?.string, let device = value["device"]?.string,
            let sequence = value["sequence"]?.integer.flatMap(UInt64.init(exactly:)), sequence < DeviceEnd.sequence
        else { throw .damaged }
        self.init(name: name, device: device, sequence: sequence)
        (address, keyMadeAt) = (try value.read("address") { $0 }, try value.time("key_made"))
        if let value = value["acknowledged"] { acknowledged = try EnrolmentState.Acknowledgement(value) }
        if let value = value["post_quantum"] {
            guard let isPermitted = value.bool else { throw .damaged }
            permitsPostQuantum = isPermitted
        }
        postQuantumRefusedAt = try value.time("post_quantum_refused")
        pushKey = try value.read("push_key") { try? SigningPublicKey(text: $0) }
        grants = try EnrolmentState.Grant.array(value["grants"])
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(name, for: "name")
            json.string(device, for: "device")
            json.integer(sequence, for: "sequence")
            if let address { json.string(address, for: "address") }
            if let keyMadeAt { json.integer(keyMadeAt.milliseconds, for: "key_made") }
            if permitsPostQuantum { json.bool(true, for: "post_quantum") }
            if let postQuantumRefusedAt { json.integer(postQuantumRefusedAt.milliseconds, for: "post_quantum_refused") }
            if let pushKey { json.string(pushKey.text, for: "push_key") }
            EnrolmentState.Grant.write(grants, for: "grants", to: &json)
            guard let acknowledged else { return }
            let report = acknowledged.report
            json.object(for: "acknowledged") { json in
                json.string(report.publicKey.description, for: "public_key")
                if let provider = report.provider { json.string(provider.description, for: "provider") }
                if let version = report.appVersion { json.string(version.description, for: "app_version") }
                if let token = report.token { json.string(token, for: "token") }
                if let environment = report.environment { json.string(environment.rawValue, for: "environment") }
                if let grant = report.grant { json.string(grant, for: "grant") }
                json.bool(report.alertsAreShown, for: "alerts")
                if let at = acknowledged.at { json.integer(at.milliseconds, for: "at") }
            }
        }
    }
}

extension EnrolmentState.Acknowledgement {
    fileprivate init(_ value: JSONValue) throws(EnrolmentStateError) {
        guard let publicKey = value["public_key"]?.string.flatMap(DevicePublicKey.init),
            let alertsAreShown = value["alerts"]?.bool
        else { throw .damaged }
        report = EnrolmentState.Report(
            publicKey: publicKey, provider: try value.read("provider", ProviderPublicKey.init),
            appVersion: try value.read("app_version", AppVersion.init), token: try value.read("token") { $0 },
            environment: try value.read("environment", PushEnvironment.init(rawValue:)),
            grant: try value.read("grant") { $0 },
            alertsAreShown: alertsAreShown)
        at = try value.time("at")
    }
}

extension JSONValue {
    /// Parses an optional time; throws if it is present but invalid.
    fileprivate func time(_ name: String) throws(EnrolmentStateError) -> Timestamp? {
        guard let value = self[name] else { return nil }
        guard let time = value.integer.flatMap(UInt64.init(exactly:)) else { throw .damaged }
        return Timestamp(milliseconds: time)
    }

    /// Parses an optional member; throws if it is present but invalid.
    fileprivate func read<R>(_ name: String, _ parse: (String) -> R?) throws(EnrolmentStateError) -> R? {
        guard let value = self[name] else { return nil }
        guard let result = value.string.flatMap(parse) else { throw .damaged }
        return result
    }
}
