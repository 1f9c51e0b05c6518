import Pushcrypt
import PushcryptReceiver
import Testing
import VectorKit

@testable import PushcryptKeyStore
@testable import Simulated

/// `Tests/Data/Vectors/kit/envelopes` and `kit/pushes` through a store on the disk: what a person is shown, and what becomes of
/// the store.
@Suite struct KitReceiverTests {
    @Test func theReceiverAgreesWithTheKit() throws {
        let envelopes = try KitGroup.envelopes.vectors()
        let pushes = try KitGroup.pushes.vectors()
        for vector in envelopes { try check(vector, push: Scene.push(value: try json(vector.text))) }
        for vector in pushes { try check(vector, push: vector.body) }
        print("vectors: kit/envelopes, through the receiver: \(envelopes.count)")
        print("vectors: kit/pushes, through the receiver: \(pushes.count)")
    }

    private func check(_ vector: KitVector, push: Bytes) throws {
        let name = Comment(rawValue: vector.path)
        let receiver = try KitReceiver(vector)
        let phone = try Phone(receiver, name)
        let before = try StoreFiles(in: phone.folder)
        let reception = phone.receive(push, as: receiver.pushClass, topic: receiver.topic, at: receiver.now)
        let changes = try StoreFiles(in: phone.folder).changes(since: before)

        #expect(reception.code == vector.expect, name)
        if vector.expect == "opened" {
            try phone.expect(receiver.learnedAfter, receiver.topic, name)
            let told = reception.warnings.compactMap { $0.split(separator: ":").first.map(String.init) }
            #expect(told == vector.all("told"), name)
        } else {
            // O-9.3: nothing changes because of a message that did not open.
            #expect(changes == [], name)
            #expect(reception.shown.subtitle == (vector.expect == "not-encrypted" ? "" : "(Encrypted)"), name)
            #expect(reception.shown.body == (vector.expect == "not-encrypted" ? "(Encrypted)" : ""), name)
        }
    }

    /// A text as a JSON string.
    private func json(_ text: String) throws -> String {
        let escaped = text.unicodeScalars.map { scalar in
            scalar.value < 0x20 || "\"\\".unicodeScalars.contains(scalar)
                ? "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16) : String(scalar)
        }
        return "\"\(escaped.joined())\""
    }
}

extension Phone {
    /// The phone of a vector, with its keys, its pins, and what it has learnt.
    ///
    /// Each key has its own account, unless `accounts` has the accounts; those that it leaves out are of one. Each account
    /// has the pins of the vector, unless `pins` has them.
    init(
        _ receiver: KitReceiver, _ name: Comment, floor: Timestamp = Timestamp(milliseconds: 0),
        pending: DeviceKey? = nil, accounts: [DevicePublicKey: String]? = nil,
        pins: [String: [ProviderPublicKey]] = [:]
    ) throws {
        try self.init(floor: floor, hasKey: false)
        try store.edit { state in
            // A key that retires does so before the active one of its account is there.
            for (number, device) in receiver.devices.enumerated().sorted(by: { $0.1.end != nil && $1.1.end == nil }) {
                let account = accounts.map { $0[device.key.publicKey] ?? Self.account } ?? "account \(number)"
                try state.append(device.key, retiresAt: device.end, to: account)
            }
            for account in state.accounts where account.currentKey == nil {
                try state.append(DeviceKey(), to: account.name)
            }
            if let pending { try state.append(pending, to: accounts?[pending.publicKey] ?? Self.account) }
            for account in Set(state.accounts.map(\.name) + [Self.account]) {
                let pins = (pins[account] ?? receiver.trust.pinned).map { ProviderPin($0) }
                try state.setPins(pins, for: account, topic: receiver.topic)
            }
            state.learned = receiver.learned.map {
                DeviceState.Learned(provider: $0.key, topic: receiver.topic, trust: $0.value)
            }
        }
        try expect(receiver.learned, receiver.topic, "the phone is not the one of \(name)")
    }

    /// Expects what the phone has learnt for an app, and nothing else.
    func expect(_ learned: [ProviderPublicKey: LearnedTrust], _ topic: Topic, _ name: Comment) throws {
        let found = try store.state().learned.filter { $0.topic == topic }.map { ($0.provider, $0.trust) }
        #expect(Dictionary(uniqueKeysWithValues: found) == learned, name)
    }
}

extension DeviceState {
    /// Adds a key as the last one of an account: retiring, active, or pending beside an active one.
    fileprivate mutating func append(_ key: DeviceKey, retiresAt end: Timestamp? = nil, to name: String) throws {
        let index = try openAccount(name, nil)
        let hasActive = accounts[index].keys.contains { $0.state == .active }
        accounts[index].keys.append(
            Key(
                publicKey: key.publicKey, generation: UInt64(accounts[index].keys.count + 1),
                state: end != nil ? .retiring : hasActive ? .pending : .active, createdAt: .start, retiresAt: end,
                secret: key.withScalar { Secret(copying: $0) }))
    }
}
