import Pushcrypt
import PushcryptReceiver
import Testing
import VectorKit

@testable import PushcryptKeyStore

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
        let next = Locked(NextKey())
        var options = StoreOptions()
        options.makeDeviceKey = { _ in next.withLock { $0.key } ?? DeviceKey() }
        try self.init(floor: floor, options: options, hasKey: false)
        // A key that retires does so before the active one of its account is there.
        let devices = accounts == nil ? receiver.devices : receiver.devices.filter { $0.end != nil }
        let others = accounts == nil ? [] : receiver.devices.filter { $0.end == nil }
        for (number, device) in (devices + others).enumerated() {
            let account = accounts.map { $0[device.key.publicKey] ?? "default" } ?? "account \(number)"
            try add(
                device, name: account, next,
                isGiven: { key in
                    receiver.devices.contains { $0.key.publicKey == key }
                })
        }
        if let pending {
            next.withLock { $0.key = pending }
            _ = try store.rotateDeviceKey(named: accounts?[pending.publicKey] ?? "default", at: .start)
        }
        for account in Set(try store.deviceKeys().map(\.name) + ["default"]) {
            for key in pins[account] ?? receiver.trust.pinned {
                try store.pinProvider(key, for: account, topic: receiver.topic, at: .start)
            }
        }
        try store.write { (store) throws(KeyStoreError) in
            for (provider, trust) in receiver.learned {
                try store.put(
                    LearnedTrustRow(
                        id: store.newRowNumber(in: LearnedTrustRow.self), provider: provider, topic: receiver.topic,
                        trust: trust))
            }
        }
        try expect(receiver.learned, receiver.topic, "the phone is not the one of \(name)")
    }

    /// The key that the store makes next.
    private final class NextKey {
        var key: DeviceKey?
    }

    /// A key that retires gets its end date as every key does: another takes its place.
    private func add(
        _ device: KitReceiver.Device, name: String, _ next: Locked<NextKey>, isGiven: (DevicePublicKey) -> Bool
    ) throws {
        next.withLock { $0.key = device.key }
        defer { next.withLock { $0.key = nil } }
        let keys = try store.deviceKeys().filter { $0.name == name }
        if keys.isEmpty {
            _ = try store.importDeviceKey(device.key, named: name, at: .start)
        } else {
            // Beside an active key that has no end there is one more, which is pending.
            _ = try store.rotateDeviceKey(named: name, at: .start)
            if device.end != nil || keys.contains(where: { $0.state == .active && !isGiven($0.publicKey) }) {
                _ = try store.confirmDeviceKey(named: name, at: .start)
            }
        }
        guard let end = device.end else { return }
        next.withLock { $0.key = nil }
        let grace: UInt64 = 86_400
        _ = try store.rotateDeviceKey(named: name, at: .start)
        _ = try store.confirmDeviceKey(
            named: name, grace: .seconds(grace), at: end.subtracting(milliseconds: 1000 * grace))
    }

    /// Expects what the phone has learnt for an app, and nothing else.
    func expect(_ learned: [ProviderPublicKey: LearnedTrust], _ topic: Topic, _ name: Comment) throws {
        let rows = try store.read { (store) throws(KeyStoreError) in try store.rows(LearnedTrustRow.self, "") }
        let found = rows.filter { $0.topic == topic }.map { ($0.provider, $0.trust) }
        #expect(Dictionary(uniqueKeysWithValues: found) == learned, name)
    }
}
