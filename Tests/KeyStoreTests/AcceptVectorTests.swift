import Foundation
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

/// `Tests/Data/Vectors/accept.json`: what becomes of a registration, and of a line of an export.
struct AcceptVectorTests {
    private static let now = Timestamp(milliseconds: 1000)

    private static let cases: [AcceptCase] = {
        let path = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let file = URL(fileURLWithPath: "/\(path)/Data/Vectors/accept.json")
        guard let data = try? Data(contentsOf: file), let file = try? JSONDecoder().decode(File.self, from: data) else {
            return []
        }
        return file.cases
    }()

    private struct File: Decodable { let cases: [AcceptCase] }

    @Test func eachCaseHasItsOutcomeAndItsRows() throws {
        try #require(Self.cases.count >= 85)
        for vector in Self.cases where vector.suite.map({ $0 <= CipherSuite.supported.count }) ?? true {
            try check(vector)
        }
    }

    private func check(_ vector: AcceptCase) throws {
        let held = try vector.held?.row(registeredAt: 500)
        let holders = try (vector.holders ?? []).map { try #require(try $0.row(registeredAt: 500).device) }
        let change: Change
        do {
            if let record = vector.record {
                let arrival = try record.arrival()
                change = try DeviceRules.accept(
                    arrival, held: held, holders: holders, epoch: vector.epoch, at: Self.now)
            } else {
                let export = try #require(vector.export)
                change = DeviceRules.merge(
                    try export.change(), held: held, replace: export.replace ?? false, at: Self.now)
            }
        } catch let error as KeyStoreError {
            #expect(error.code.description == vector.expect, "\(vector.name)")
            #expect(vector.after == nil, "\(vector.name)")
            return
        }
        #expect(change.outcome.rawValue == vector.expect, "\(vector.name)")
        #expect(change.put == (try (vector.after ?? []).map { try $0.row(registeredAt: 1000) }), "\(vector.name)")
        let earlier = change.replacedKey.map(AcceptRow.name) ?? (change.endsEarlierKeys ? "none" : nil)
        #expect(earlier == vector.earlier, "\(vector.name)")
    }

    /// Exports of many stores, in any order and any number of times: every store ends up the same.
    @Test func exportsInAnyOrderEndAlike() throws {
        // A device that registers again and again, with later keys, and is removed in between, by stores that know its key or do not.
        var changes: [DeviceChange] = []
        for (number, time) in stride(from: 100 as UInt64, to: 900, by: 100).enumerated() {
            let generation = UInt64(number / 2 + 1)
            if number % 3 == 2 {
                let key = RemovedDevice.LastKey(generation: generation, suite: .x25519, id: KeyID(value: 7))
                changes.append(
                    .removed(
                        RemovedDevice(
                            id: "d", removedAt: Timestamp(milliseconds: time), lastKey: number == 2 ? nil : key,
                            signing: RemovedDevice.Signing(sequence: time + 50))))
            } else {
                var registration = DeviceRegistration(
                    publicKey: .numbered(Int(generation)), generation: generation,
                    createdAt: Timestamp(milliseconds: time))
                registration.sequence = 1000 - time
                changes.append(
                    .registered(id: "d", registration, owner: .nobody, updatedAt: Timestamp(milliseconds: time)))
            }
        }
        let end = DeviceChange.removed(
            RemovedDevice(
                id: "d", removedAt: Timestamp(milliseconds: 50),
                signing: RemovedDevice.Signing(sequence: DeviceEnd.sequence)))
        for (changes, isEnd) in [(changes, false), (changes + [end], true)] {
            var found: Set<AcceptRow.Summary> = []
            var generator = SystemRandomNumberGenerator()
            for _ in 0..<500 {
                var held: Held?
                for change in (changes + changes.prefix(3)).shuffled(using: &generator) {
                    for put in DeviceRules.merge(change, held: held, at: Self.now).put { held = put }
                }
                found.insert(AcceptRow.Summary(try #require(held)))
            }
            #expect(found.count == 1, "\(found)")
            #expect(found.first?.isEnd == isEnd && found.first?.sequence == (isEnd ? DeviceEnd.sequence : 900))
        }
    }
}

/// One case of the file.
private struct AcceptCase: Decodable, Sendable {
    let name: String
    let suite: Int?
    let held: AcceptRow?
    let holders: [AcceptRow]?
    let record: AcceptRow?
    let export: AcceptRow?
    let epoch: UInt32?
    let expect: String
    let after: [AcceptRow]?
    let earlier: String?
}

/// A row, a record or a line of an export.
private struct AcceptRow: Decodable, Sendable {
    /// The facts that all orders must agree on.
    struct Summary: Hashable {
        let isEnd: Bool
        let isRemoved: Bool
        let sequence: UInt64
        let generation: UInt64?
        let time: Timestamp?

        init(_ held: Held) {
            (isEnd, isRemoved, sequence) = (held.isEnd, held.removed != nil, held.signing.sequence)
            time = held.isEnd ? nil : held.device?.updatedAt ?? held.removed?.removedAt
            generation = held.device?.generation
        }
    }

    let id: String?
    let key: String?
    let generation: UInt64?
    let created: UInt64?
    let updated: UInt64?
    let token: String?
    let topic: String?
    let update_key: String?
    let sequence: UInt64?
    let epoch: UInt32?
    let removed: UInt64?
    let reason: String?
    let lost: Bool?
    let way: String?
    let signed: String?
    let replace: Bool?
    private let user: User?

    /// A user, or nobody, which differs from a member that is absent.
    private enum User: Decodable, Sendable {
        case nobody, somebody(String)

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            self = value.decodeNil() ? .nobody : .somebody(try value.decode(String.self))
        }
    }

    private enum Name: String, CodingKey {
        case id, key, generation, created, updated, token, topic, update_key, sequence, epoch, removed, reason, lost,
            way,
            signed, replace, user
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Name.self)
        func value<T: Decodable>(_ name: Name) throws -> T? { try values.decodeIfPresent(T.self, forKey: name) }
        (id, key, generation) = (try value(.id), try value(.key), try value(.generation))
        (created, updated, removed) = (try value(.created), try value(.updated), try value(.removed))
        (token, topic, update_key) = (try value(.token), try value(.topic), try value(.update_key))
        (sequence, epoch, reason) = (try value(.sequence), try value(.epoch), try value(.reason))
        (lost, way, signed) = (try value(.lost), try value(.way), try value(.signed))
        replace = try value(.replace)
        user = values.contains(.user) ? try values.decode(User.self, forKey: .user) : nil
    }

    // MARK: Keys by their names

    private static let keys = [
        "1A": DevicePublicKey.numbered(1), "1B": .numbered(2), "2Q": try? .postQuantum(3), "2R": try? .postQuantum(4),
    ].compactMapValues(\.self)
    private static let updateKeys = ["U": SigningKey().publicKey, "V": SigningKey().publicKey]

    static func name(_ key: DevicePublicKey) -> String { keys.first { $0.value == key }?.key ?? "?" }

    private var publicKey: DevicePublicKey { get throws { try #require(Self.keys[key ?? "1A"]) } }

    private var signing: RemovedDevice.Signing {
        RemovedDevice.Signing(updateKey: update_key.flatMap { Self.updateKeys[$0] }, sequence: sequence ?? 0)
    }

    private var userName: String? { if case .somebody(let name) = user { name } else { nil } }

    private var owner: DeviceOwner {
        switch user {
        case nil: .unchanged
        case .nobody: .nobody
        case .somebody(let name): .user(name)
        }
    }

    // MARK: Values of the store

    func row(registeredAt time: UInt64) throws -> Held {
        if let removed = try removal(lastKey: true) { return .removed(removed) }
        return .device(
            DeviceRecord(
                try registration(), epoch: epoch, id: id ?? "d", user: userName, topic: try topic.map(Topic.init),
                updatedAt: Timestamp(milliseconds: updated ?? time), signing: signing))
    }

    func arrival() throws -> Arrival {
        let ways: [String: Arrival.Way] = [
            "bare": .bare, "list": .list, "session": .session, "open": .open, "pairing": .pairing,
        ]
        let way = try #require(ways[way ?? ""])
        var arrival = Arrival(
            id: "d", registration: try registration(), owner: owner, way: way, replaces: replace ?? false)
        let key = signed.flatMap { Self.updateKeys[$0] }
        arrival.isSigned = { $0 == key }
        return arrival
    }

    func change() throws -> DeviceChange {
        if let removal = try removal(lastKey: false) { return .removed(removal) }
        let owner = user == nil ? .nobody : owner
        return .registered(
            id: "d", try registration(), owner: owner, updatedAt: Timestamp(milliseconds: try #require(updated)))
    }

    private func removal(lastKey isKnown: Bool) throws -> RemovedDevice? {
        guard let removed else { return nil }
        let key = try publicKey
        let last = RemovedDevice.LastKey(generation: generation ?? 1, suite: key.suite, id: key.id)
        return RemovedDevice(
            id: id ?? "d", removedAt: Timestamp(milliseconds: removed), reason: reason, user: userName,
            topic: try topic.map(Topic.init), lastKey: isKnown ? last : nil, signing: signing, isLost: lost ?? false)
    }

    private func registration() throws -> DeviceRegistration {
        var registration = DeviceRegistration(
            publicKey: try publicKey, suites: [1, 2], topic: try topic.map(Topic.init), generation: generation ?? 1,
            createdAt: Timestamp(milliseconds: created ?? 100))
        registration.token = token
        registration.updateKey = update_key.flatMap { Self.updateKeys[$0] }
        registration.sequence = sequence
        return registration
    }
}
