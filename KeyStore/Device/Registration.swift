package import Pushcrypt

extension DeviceState {
    /// An account's registration with its provider.
    package struct Registration: Sendable, Equatable {
        /// A report to the provider about the account.
        package struct Report: Sendable, Equatable {
            package var publicKey: DevicePublicKey
            /// The pin; the first of two.
            package var provider: ProviderPublicKey?
            package var appVersion: AppVersion?
            /// A digest of the push token; nil if none was known.
            package var token: String?
            package var environment: PushEnvironment?
            /// A digest of the relay's grant.
            package var grant: String?

            package init(publicKey: DevicePublicKey) { self.publicKey = publicKey }

            /// Returns a digest that distinguishes tokens or grants, and from which they cannot be computed.
            package static func digest(of bytes: ContiguousArray<UInt8>) -> String {
                ContiguousArray(SHA256.digest(bytes.span).prefix(16)).hex
            }
        }

        /// The id under which the provider stores this account of this installation.
        package let device: String
        /// The sequence of the last record.
        package var sequence: UInt64 = 0
        /// Where the account's posts go, if it was paired by a code; nil if they go over the app's channel.
        package var address: String?
        /// When a refusal last made the account's next key.
        package var keyMadeAt: Timestamp?
        /// The last report that the provider has acknowledged.
        package var report: Report?
        /// When it was; nil if the provider has refused a later record, and may have nothing of the account any more.
        package var acknowledgedAt: Timestamp?
        /// Whether the last reply permits a key of suite 2, or the account had one under an earlier id.
        package var permitsPostQuantum = false
        /// When the provider last refused a key of suite 2.
        package var postQuantumRefusedAt: Timestamp?
        /// The key with which the provider signs requests to a relay, and the one that will follow it.
        package var pushKey: SigningPublicKey?
        package var nextPushKey: SigningPublicKey?
        /// The grants that live, the newest last.
        package var grants: [Grant] = []

        /// Begins the registration of a new device: no other installation has 16 random bytes of this one.
        package init() { device = Sodium.randomBytes(16).hex }

        fileprivate init(device: String) { self.device = device }
    }

    /// A relay's permission to push to this phone, which is in an account's records. Without the server's push key it is
    /// useless. (`Docs/Relay.md`, Grants)
    package struct Grant: Sendable, Equatable {
        package let text: String
        /// Ends the grant; only this phone and the relay have it.
        package let secret: String
        /// The key of the server that may push.
        package let pushKey: SigningPublicKey
        /// A digest of the token that it is for.
        package let address: String
        package let issuedAt: Timestamp
        package let endsAt: Timestamp

        package init(
            _ text: String, secret: String, _ pushKey: SigningPublicKey, address: String, issuedAt: Timestamp,
            endsAt: Timestamp
        ) {
            (self.text, self.secret, self.pushKey, self.address) = (text, secret, pushKey, address)
            (self.issuedAt, self.endsAt) = (issuedAt, endsAt)
        }
    }

    /// The state of a relay, besides the accounts' grants.
    package struct Relay: Sendable, Equatable {
        /// Where the grants come from.
        package let origin: String
        /// Whether an earlier installation may have left grants.
        package var endsAll: Bool
        /// Grants that have to end: of accounts that have left, or of a server's earlier push key.
        package var ended: [Grant] = []

        package init(origin: String, endsAll: Bool) { (self.origin, self.endsAll) = (origin, endsAll) }
    }

    /// The end of a device, signed when its account logged out, which the provider has to hear of. [D-51]
    package struct End: Sendable, Equatable {
        /// The account that it was.
        package let account: String
        /// The end, which names the device and the provider key.
        package let record: SignedRecord
        /// Where to post it; nil for the app's channel.
        package let address: String?

        package init(account: String, record: SignedRecord, address: String?) {
            (self.account, self.record, self.address) = (account, record, address)
        }
    }
}

// MARK: JSON

extension DeviceState.Registration {
    init(_ value: StateReader) throws(KeyStoreError) {
        self.init(device: try value.text("device"))
        sequence = try value.number("sequence")
        guard sequence < DeviceEnd.sequence else { throw .damagedState }
        (address, keyMadeAt) = (try value.text("address"), try value.time("key_made"))
        (permitsPostQuantum, postQuantumRefusedAt) = (try value.flag("post_quantum"), try value.time("refused"))
        (pushKey, nextPushKey) = (try value.signingKey("push_key"), try value.signingKey("next_push_key"))
        grants = try value.list("grants", DeviceState.Grant.init)
        report = try value.object("report", Report.init)
        acknowledgedAt = try value.time("acknowledged")
    }

    func write(to json: inout JSONWriter) {
        json.object(for: "registration") { json in
            json.string(device, for: "device")
            json.integer(sequence, for: "sequence")
            json.text(address, for: "address")
            json.time(keyMadeAt, for: "key_made")
            json.flag(permitsPostQuantum, for: "post_quantum")
            json.time(postQuantumRefusedAt, for: "refused")
            json.text(pushKey?.text, for: "push_key")
            json.text(nextPushKey?.text, for: "next_push_key")
            json.list(grants, for: "grants") { $0.write(to: &$1) }
            report?.write(to: &json)
            json.time(acknowledgedAt, for: "acknowledged")
        }
    }
}

extension DeviceState.Registration.Report {
    fileprivate init(_ value: StateReader) throws(KeyStoreError) {
        self.init(publicKey: try value.deviceKey("public_key"))
        provider = try value.providerKey("provider")
        appVersion = try value.optional("app_version", AppVersion.init)
        token = try value.text("token")
        environment = try value.optional("environment", PushEnvironment.init(rawValue:))
        grant = try value.text("grant")
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.object(for: "report") { json in
            json.bytes(publicKey.bytes, for: "public_key")
            json.bytes(provider?.bytes, for: "provider")
            json.text(appVersion?.description, for: "app_version")
            json.text(token, for: "token")
            json.text(environment?.rawValue, for: "environment")
            json.text(grant, for: "grant")
        }
    }
}

extension DeviceState.Grant {
    init(_ value: StateReader) throws(KeyStoreError) {
        guard let pushKey = try value.signingKey("push_key") else { throw .damagedState }
        self.init(
            try value.text("grant"), secret: try value.text("secret"), pushKey, address: try value.text("address"),
            issuedAt: try value.time("issued"),
            endsAt: try value.time("ends"))
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(text, for: "grant")
            json.string(secret, for: "secret")
            json.string(pushKey.text, for: "push_key")
            json.string(address, for: "address")
            json.integer(issuedAt.milliseconds, for: "issued")
            json.integer(endsAt.milliseconds, for: "ends")
        }
    }
}

extension DeviceState.Relay {
    init(_ value: StateReader) throws(KeyStoreError) {
        self.init(origin: try value.text("origin"), endsAll: try value.flag("ends_all"))
        ended = try value.list("ended", DeviceState.Grant.init)
    }

    func write(to json: inout JSONWriter) {
        json.object(for: "relay") { json in
            json.string(origin, for: "origin")
            json.flag(endsAll, for: "ends_all")
            json.list(ended, for: "ended") { $0.write(to: &$1) }
        }
    }
}

extension DeviceState.End {
    init(_ value: StateReader) throws(KeyStoreError) {
        guard let post = value.raw("post"), case .record(let record)? = try? PhonePost(json: post, over: .open),
            case .end = record.content
        else { throw .damagedState }
        self.init(account: try value.text("account"), record: record, address: try value.text("address"))
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.string(account, for: "account")
            json.raw(record.body, for: "post")
            json.text(address, for: "address")
        }
    }
}
