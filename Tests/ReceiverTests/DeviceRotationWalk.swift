import Foundation
import PushcryptReceiver
import Testing

@testable import Pushcrypt
@testable import PushcryptKeyStore
@testable import Simulated

/// One point of an enumeration: a phone's files, as a process left them that was killed, and everything else there is.
struct DeviceRotationPoint {
    private(set) var model = DeviceRotationModel()
    private var path: [DeviceRotationModel.Step] = []
    private let provider: Provider
    private let phone: Phone
    /// By generation.
    private var keys: [UInt64: DeviceKey] = [:]
    private var records: [UInt64: DeviceRegistration] = [:]
    private var messages: [UInt64: Bytes] = [:]
    /// Every form in which a secret has ever been in a file: all keys are sealed again with each change.
    private var sealed: [UInt64: Set<Bytes>] = [:]

    /// A phone that is enrolled.
    init() throws {
        provider = try Provider()
        phone = try Phone(enrolledWith: provider)
        records[1] = try sentRecord()
        try sealMessages()
        try noticeKeys()
    }

    /// The state for the next step: the files as they are on the disk now, while a process still has them open, as if that
    /// process were killed here.
    private init(afterCrashAt point: DeviceRotationPoint) throws {
        self = try DeviceRotationPoint(
            point, phone: Phone(reopening: point.phone.folder.copy(), at: point.model.now))
        // The provider's store is one for all branches.
        try provider.store.addDevice(
            #require(records[model.held]), id: Phone.id, replace: true, at: model.now)
    }

    private init(_ point: DeviceRotationPoint, phone: Phone) {
        model = point.model
        path = point.path
        provider = point.provider
        self.phone = phone
        keys = point.keys
        records = point.records
        messages = point.messages
        sealed = point.sealed
    }

    private func sentRecord() throws -> DeviceRegistration {
        try DeviceRegistration(json: phone.record().json)
    }

    // MARK: Steps

    /// Runs a step after a crash, and checks everything that must hold then.
    func after(_ step: DeviceRotationModel.Step) throws -> DeviceRotationPoint {
        var next = try DeviceRotationPoint(afterCrashAt: self)
        next.path.append(step)
        let before = next.model
        next.model.take(step)
        try next.perform(step, before)
        try next.sealMessages()
        try next.noticeKeys()
        try next.check()
        return next
    }

    private mutating func perform(_ step: DeviceRotationModel.Step, _ before: DeviceRotationModel) throws {
        let now = model.now
        switch step {
        case .rotate:
            let key = try phone.store.edit { try $0.rotate(at: now) }
            #expect(try phone.store.edit { try $0.rotate(at: now.plus(seconds: 1)) } == key, "\(path)")
        case .send:
            records[model.newest] = try sentRecord()
        case .register(let generation):
            let outcome = try provider.store.addDevice(#require(records[generation]), id: Phone.id, at: now)
            #expect(outcome == (generation > before.held ? .updated : .unchanged), "\(path)")
        case .reply(let generation):
            let key = try phone.store.edit { try $0.confirm(at: now) }
            #expect(key?.generation == generation && key?.state == .active, "\(path)")
        case .loseReply: break
        case .deliver(let generation):
            try expectOpens(#require(messages[generation]), at: now)
        case .die(let generation):
            let opened = try open(#require(messages[generation]), at: now)
            _ = phone.database.replay.take(ReplayMessage(opened), at: now)
        case .purge: try purge(before)
        }
    }

    /// The provider has a message for the phone as soon as it has a key.
    private mutating func sealMessages() throws {
        for message in model.messages where messages[message.generation] == nil {
            messages[message.generation] = try provider.push(at: model.now)
        }
    }

    /// The end of the grace, to the millisecond, and what is left of the keys afterwards.
    private mutating func purge(_ before: DeviceRotationModel) throws {
        for key in before.keys {
            guard case .retiring(let end) = key.state else { continue }
            // A provider that was restored from a backup seals to an old key once more.
            let late = try seal(to: key.generation, at: end)
            try expectOpens(late, at: end)
            #expect(phone.receive(late, at: end.plus(milliseconds: 1)).code == "unknown-recipient-key", "\(path)")
            let purged = try phone.store.edit { $0.purge(endedBefore: end) }.map(\.generation)
            #expect(!purged.contains(key.generation), "\(path)")
            try noticeKeys()
            #expect(try secrets(of: key.generation, areIn: StoreFiles(in: phone.folder)), "\(path)")
        }
        let gone = Set(before.keys.filter(\.isRetiring).map(\.generation))
        let now = model.now
        try phone.store.edit { $0.purge(endedBefore: now) }
        #expect(try phone.store.edit { $0.purge(endedBefore: now) } == [], "\(path)")

        let files = try StoreFiles(in: phone.folder)
        for generation in gone {
            #expect(try !secrets(of: generation, areIn: files), "\(path)")
            let late = try seal(to: generation, at: model.now)
            #expect(phone.receive(late, at: model.now).code == "unknown-recipient-key", "\(path)")
        }
        for (generation, message) in messages {
            let code = phone.receive(message, at: model.now).code
            #expect(code == (gone.contains(generation) ? "unknown-recipient-key" : "expired"), "\(path)")
        }
        messages = [:]
    }

    private func seal(to generation: UInt64, at now: Timestamp) throws -> Bytes {
        try Sealer(provider: provider.key, topic: .app)
            .seal(Sealer.Message(Provider.payload.utf8), to: #require(keys[generation]).publicKey, at: now).json
    }

    // MARK: Secrets

    /// Keeps every secret that the phone has, and every form in which it lies in the file.
    private mutating func noticeKeys() throws {
        for key in try phone.store.keys() {
            keys[key.generation] = try keys[key.generation] ?? key.deviceKey()
            sealed[key.generation, default: []].formUnion(try phone.store.sealedStates())
        }
    }

    /// Tells whether the scalar of a key, its text or any of its sealed forms lies in a file.
    private func secrets(of generation: UInt64, areIn files: StoreFiles) throws -> Bool {
        let key = try #require(keys[generation])
        let plain = [key.withScalar { Bytes(copying: $0) }, key.withText { Bytes(copying: $0) }]
        #expect(!plain.contains(where: files.contain), "\(path)")
        return try #require(sealed[generation]).contains(where: files.contain)
    }

    // MARK: Invariants

    private func check() throws {
        try checkPhone()
        try checkProvider()
        for message in messages.values {
            let payload = try open(message, at: model.now).payload
            #expect(payload == Bytes(Provider.payload.utf8), "\(path)")
        }
    }

    private func checkPhone() throws {
        let present = try phone.store.keys()
        let states = present.map { key in
            let state: DeviceRotationModel.State =
                switch (key.state, key.retiresAt) {
                case (.pending, _): .pending
                case (.active, _): .active
                case (.retiring, let end): .retiring(until: end ?? model.now)
                }
            return DeviceRotationModel.Key(generation: key.generation, state: state)
        }
        #expect(states == model.keys, "\(path)")
        #expect(present.allSatisfy { keys[$0.generation]?.publicKey == $0.publicKey }, "\(path)")
        // A reply that comes twice, or when nothing waits for it.
        let now = model.now
        if model.pending == nil { #expect(try phone.store.edit { try $0.confirm(at: now) } == nil, "\(path)") }
    }

    private func checkProvider() throws {
        let device = try #require(try provider.store.device(id: Phone.id))
        #expect(device.generation == model.held, "\(path)")
        // The provider's key for the phone opens, no matter which replies came.
        let key = try phone.store.state().key(device.publicKey.id, at: model.now)?.key
        #expect(key?.publicKey == device.publicKey, "\(path)")

        for (generation, record) in records where generation <= model.held {
            if generation == model.held {
                #expect(try provider.store.addDevice(record, id: Phone.id, at: model.now) == .unchanged, "\(path)")
            } else {
                #expect(throws: KeyStoreError(.generationRollback, ""), "\(path)") {
                    try provider.store.addDevice(record, id: Phone.id, at: model.now)
                }
            }
        }
        let kept = try provider.store.device(id: Phone.id)
        #expect(kept?.publicKey == device.publicKey && kept?.generation == device.generation, "\(path)")
    }

    private func expectOpens(_ push: Bytes, at now: Timestamp) throws {
        let reception = phone.receive(push, at: now)
        #expect(reception.code == "opened", "\(path)")
        #expect(reception.warnings.isEmpty, "\(path)")
    }

    /// Opens without any effect.
    private func open(_ push: Bytes, at now: Timestamp) throws -> OpenedNotification {
        let envelope = try ReceivedPush(push).envelope()
        let key = try #require(
            try phone.store.state().key(envelope.recipientKeyID, at: now)?.key, "a message is lost after \(path)")
        return try Opener(topic: .app, deviceKeys: [key.deviceKey()], trust: phone.trust).open(envelope, at: now)
    }
}
