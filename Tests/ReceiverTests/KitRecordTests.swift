import Pushcrypt
import Testing
import VectorKit

@testable import PushcryptKeyStore
@testable import PushcryptReceiver

/// `Tests/Data/Vectors/kit/records` and `kit/replies`: what a phone and its provider say of keys, and what each end does then.
/// (`Docs/FormatRecords.md`, D-1 to D-21)
@Suite struct KitRecordTests {
    @Test(arguments: [false, true]) func aRecordIsTakenOrNot(amongOthers: Bool) throws {
        let supported = CipherSuite.supported.map { "\($0.rawValue)" }.joined(separator: " ")
        let all = try KitGroup.records.vectors()
        let vectors = all.filter { $0.optional("seals") ?? supported == supported }
        for vector in vectors {
            let outcome = try outcome(of: vector) {
                try vector.one("kind") == "device" ? try registration(vector, amongOthers) : try providerRecord(vector)
            }
            #expect(outcome == vector.expect, "\(vector)")
        }
        print("vectors: kit/records: \(vectors.count)")
        if vectors.count < all.count {
            print("SKIPPED: kit/records: \(all.count - vectors.count) tests need another libsodium than this")
        }
    }

    @Test func aReplyIsTakenOrNot() throws {
        let vectors = try KitGroup.replies.vectors()
        for vector in vectors {
            let outcome = try outcome(of: vector) { try answer(vector) }
            #expect(outcome == vector.expect, "\(vector)")
        }
        print("vectors: kit/replies: \(vectors.count)")
    }

    private func outcome(of vector: KitVector, _ body: () throws -> Void) throws -> String {
        do {
            try body()
            return "accepted"
        } catch let error as KeyError {
            return error.code.description
        } catch let error as KeyStoreError {
            return error.code.description
        }
    }

    // MARK: A provider

    private func registration(_ vector: KitVector, _ amongOthers: Bool) throws {
        let record = try DeviceRegistration(json: vector.body)
        #expect(try DeviceRegistration(json: record.json).json == record.json, "\(vector)")
        let store = try SQLiteKeyStore.inMemory()
        let isRemoved = vector.optional("removed") == "yes"
        if let held = vector.optional("held-key") {
            let before = DeviceRegistration(
                publicKey: try DevicePublicKey(text: held),
                topic: try vector.optional("held-topic").map { try Topic($0) },
                generation: try vector.number("held-generation"), createdAt: nil)
            // Another store's, which may be of any suite.
            let owner: DeviceOwner = vector.optional("held-user").map { .user($0) } ?? .nobody
            let change = DeviceChange.registered(id: "phone1", before, owner: owner, updatedAt: .start)
            #expect(try store.importDevices([change], at: .start).added == 1, "\(vector)")
            if isRemoved { try store.removeDevice(id: "phone1", at: .start) }
        }
        try addProviderKeys(of: vector, to: store)
        if let user = vector.optional("elsewhere") {
            let other = DeviceRegistration(publicKey: record.publicKey, createdAt: nil)
            try store.addDevice(other, id: "phone2", owner: owner(user == "-" ? nil : user), at: .start)
        }
        let isOnlyRead = vector.optional("checked") == nil
        // The store has moved the key elsewhere: the device comes back with its user.
        let name = vector.optional("user") ?? (vector.optional("elsewhere") == nil ? nil : vector.optional("held-user"))
        let user = name.map { DeviceOwner.user($0) } ?? (isRemoved ? .nobody : .unchanged)
        let replaces = isOnlyRead || vector.optional("replace") == "yes"
        if amongOthers, !replaces {
            func other() -> DeviceRegistration { DeviceRegistration(publicKey: DeviceKey().publicKey, createdAt: nil) }
            let refusals = try store.addDevices(
                [
                    ("before", other(), nil, .unchanged), ("phone1", record, nil, user),
                    ("after", other(), nil, .unchanged),
                ], at: .start)
            #expect(refusals[0] == nil && refusals[2] == nil, "\(vector)")
            #expect(try store.device(id: "before") != nil && store.device(id: "after") != nil, "\(vector)")
            if let refusal = refusals[1] { throw refusal }
        } else {
            try store.addDevice(record, id: "phone1", owner: user, replace: replaces, at: .start)
        }
        // The key is one device's.
        #expect(try store.device(id: "phone2") == nil, "\(vector)")
        if !vector.all("provider-has").isEmpty {
            let foreign = try store.foreignMemberTest()(record.pinnedProvider)
            #expect(foreign.map(\.description) == vector.all("foreign"), "\(vector)")
            let first = try store.providerKey(named: "0")
            #expect((first.provenCertificate != nil) == (vector.optional("stale") == "yes"), "\(vector)")
        }
        let device = try #require(try store.device(id: "phone1"))
        #expect(device.publicKey.description == vector.optional("key"), "\(vector)")
        #expect(record.deviceID == vector.optional("device"), "\(vector)")
        #expect(device.suites.map(String.init).joined(separator: " ") == vector.optional("suites"), "\(vector)")
        #expect(device.topic?.bundleID == vector.optional("topic"), "\(vector)")
        #expect(String(device.generation) == vector.optional("generation"), "\(vector)")
        #expect(record.createdAt.map { String($0.milliseconds) } == vector.optional("created"), "\(vector)")
        #expect(device.pinnedProvider?.description == vector.optional("provider"), "\(vector)")
        #expect(record.certificate?.description == vector.optional("certificate"), "\(vector)")
        #expect(device.appVersion?.description == vector.optional("app-version"), "\(vector)")
        #expect(device.token == vector.optional("token"), "\(vector)")
        #expect(device.environment?.rawValue == vector.optional("environment"), "\(vector)")
        #expect(device.updateKey?.bytes.hex == vector.optional("update-key"), "\(vector)")
        #expect(record.sequence.map { String($0) } == vector.optional("sequence"), "\(vector)")
        // A removal may have raised it.
        #expect(device.sequence >= record.sequence ?? 0, "\(vector)")
        let nonce = record.nonce.flatMap { PairingText.decode(Bytes($0.description.utf8).span) }
        #expect(nonce?.hex == vector.optional("nonce"), "\(vector)")
        #expect(device.grant == vector.optional("grant"), "\(vector)")
    }

    private func owner(_ user: String?) -> DeviceOwner { user.map { .user($0) } ?? .unchanged }

    /// Stores keys whose secrets the kit does not have: nothing here is signed or certified.
    private func addProviderKeys(of vector: KitVector, to store: SQLiteKeyStore) throws {
        let issued = try vector.all("issued").map { try Certificate(text: $0) }.sorted()
        let keys = try vector.all("provider-has").map { try ProviderPublicKey(text: $0) }
        let topic = Topic.app
        try store.changeProvider { state in
            for (number, key) in keys.enumerated() {
                let secret = Secret(of: ProviderKey())
                var row = ProviderState.Key(
                    name: "\(number)", topic: topic, publicKey: key, createdAt: .start, secret: secret)
                if number == 0, let last = issued.last {
                    row.signing = ProviderState.Signing(
                        certificate: last, since: .start, secret: Secret(of: SigningKey()))
                    row.past = issued.dropLast().map { CertificatePlan.PastEpoch($0, replacedAt: .start) }
                }
                state.keys.append(row)
            }
        }
    }

    private func providerRecord(_ vector: KitVector) throws {
        let record = try ProviderRecord(json: vector.body, at: .start)
        #expect(try ProviderRecord(json: record.json, at: .start) == record, "\(vector)")
        #expect(record.publicKey.description == vector.optional("key"), "\(vector)")
        #expect(record.topic?.bundleID == vector.optional("topic"), "\(vector)")
        #expect(record.certificate?.description == vector.optional("certificate"), "\(vector)")
        #expect(String(record.generation) == vector.optional("generation"), "\(vector)")
        let created = try vector.optional("created").map { try #require(UInt64($0)) }
        #expect(record.createdAt.milliseconds == created ?? Timestamp.start.milliseconds, "\(vector)")
    }

    // MARK: A phone

    private func answer(_ vector: KitVector) throws {
        let reply = try RegistrationReply(json: vector.body)
        #expect(try RegistrationReply(json: reply.json).json == reply.json, "\(vector)")
        #expect(reply.provider?.description == vector.optional("provider"), "\(vector)")
        #expect(reply.certificate?.description == vector.optional("certificate"), "\(vector)")
        #expect(reply.pushKey?.bytes.hex == vector.optional("push-key"), "\(vector)")
        #expect(reply.nextPushKey?.bytes.hex == vector.optional("next-push-key"), "\(vector)")
        #expect(reply.foreign.map(\.description) == vector.all("foreign"), "\(vector)")
        #expect(reply.sequence.map { String($0) } == vector.optional("sequence"), "\(vector)")
        #expect(reply.isGrantEnded == (vector.optional("grant") == "ended"), "\(vector)")
        let (name, text) =
            switch reply.verdict {
            case .acknowledged(let key): ("acknowledged", key.description)
            case .refused(let reason): ("refused", reason.description)
            case .ended(let device): ("ended", device)
            case .hello(let text): ("hello", text)
            }
        for other in ["acknowledged", "refused", "ended", "hello"] {
            #expect(vector.optional(other) == (other == name ? text : nil), "\(vector)")
        }

        let receiver = try KitReceiver(vector, at: .start)
        let phone = try Phone(receiver, "\(vector)", accounts: [:])
        let builtIn = receiver.trust.pinned.map { ProviderPin($0) }
        let firstTrust: FirstTrust =
            vector.optional("built-in") == "yes"
            ? .builtIn(builtIn.isEmpty ? [ProviderPin(ProviderKey().publicKey)] : builtIn) : .firstReply
        let terms = EnrolmentTerms(topic: receiver.topic, trust: firstTrust)
        var state = try phone.store.state()
        let request = try #require(try state.next(for: Phone.account, EnrolmentFacts(), terms, at: .start).request)
        let before = state.trust(for: receiver.topic, account: Phone.account).pinned
        let result = try state.take(reply, to: request, of: Phone.account, terms, at: .start)
        try phone.store.edit { $0 = state }
        #expect((result.key == .acknowledged) == (vector.optional("confirms") == "yes"), "\(vector)")
        let after = state.trust(for: receiver.topic, account: Phone.account).pinned
        let expected = vector.all("pin-after")
        #expect(after.map(\.description) == (expected.isEmpty ? before.map(\.description) : expected), "\(vector)")
        try phone.expect(receiver.learnedAfter, receiver.topic, "\(vector)")
        let told: String? =
            switch result.certificate {
            case .success(.conflict): "certificate-conflict"
            case .failure(let error): error.code.description
            case .success, nil: nil
            }
        #expect(told == vector.optional("told"), "\(vector)")
    }
}
