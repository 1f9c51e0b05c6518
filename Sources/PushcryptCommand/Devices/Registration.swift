internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// The answers of a provider's store to the phones that it registers.
struct RegistrationReplies {
    /// None in a store for devices alone.
    private let providers: ProviderKeys
    private let suites: [UInt8]
    /// The keys for which phones fetch a relay's grants; nil without a push key.
    private let pushKeys: PushKeys<PushKeyRecord>?
    private let store: SQLiteKeyStore

    init(of store: SQLiteKeyStore, at now: Timestamp) throws {
        self.store = store
        (providers, suites, pushKeys) = (
            try ProviderKeys(of: store), try store.permittedSuites(), try store.pushKeys(at: now)
        )
    }

    /// Why the store may be an old copy; nil if no phone says so.
    var warning: KeyStoreError? { providers.records.lazy.compactMap(\.warning).first }

    /// Refuses a phone that trusts no key and would be told none: it could open nothing.
    func check(_ registration: DeviceRegistration, of id: String) throws {
        guard registration.pinnedProvider == nil else { return }
        _ = try providers.key(for: topic(registration, id))
    }

    /// The reply to a registration that is stored, with the newest certificate of its provider key.
    func reply(
        to registration: DeviceRegistration, of id: String, foreign: [RegistrationReply.ForeignMember]
    ) throws -> RegistrationReply {
        let provider = try provider(for: registration, id)
        var reply = RegistrationReply(
            .acknowledged(registration.publicKey), provider: provider?.publicKey, certificate: provider?.certificate,
            foreign: foreign, suites: suites)
        (reply.pushKey, reply.nextPushKey) = (pushKeys?.current.publicKey, pushKeys?.next?.publicKey)
        if let grant = registration.grant {
            reply.isGrantEnded = try store.device(id: id)?.hasEnded(grant) ?? false
        }
        return reply
    }

    /// The reply to a registration that is refused. Its certificate may tell the phone of a theft. [D-37]
    func reply(
        to registration: DeviceRegistration, of id: String, refused refusal: RegistrationReply.Refusal
    ) throws -> RegistrationReply {
        var reply = RegistrationReply(.refused(refusal), certificate: try provider(for: registration, id)?.certificate)
        if refusal == .staleRecord { reply.sequence = try store.sequence(of: id) }
        return reply
    }

    private func provider(for registration: DeviceRegistration, _ id: String) throws -> ProviderKeyRecord? {
        let topic = try topic(registration, id)
        // A phone that trusts another key need not be told one.
        return try? providers.key(for: topic, pinned: registration.pinnedProvider)
    }

    /// The phone's app, which a registration may leave out if the store knows it.
    private func topic(_ registration: DeviceRegistration, _ id: String) throws -> Topic? {
        guard registration.topic == nil, providers.records.count > 1 else { return registration.topic }
        return try store.device(id: id)?.topic
    }
}

/// The devices that pin a provider key which the store does not have: evidence of a false enrolment, unless it was removed.
struct ForeignProviders {
    private static let listed = 10

    private let foreignMembers: @Sendable (ProviderPublicKey?) -> [RegistrationReply.ForeignMember]
    private var first: [String] = []
    private(set) var count = 0

    init(of store: SQLiteKeyStore) throws {
        foreignMembers = try store.foreignMemberTest()
    }

    /// Adds a device; returns the members of its record that name a foreign key.
    @discardableResult
    mutating func add(_ id: String, pinning provider: ProviderPublicKey?) -> [RegistrationReply.ForeignMember] {
        let foreign = foreignMembers(provider)
        guard !foreign.isEmpty else { return [] }
        count += 1
        if count <= Self.listed { first.append(id) }
        return foreign
    }

    mutating func add(_ changes: [DeviceChange], except refused: Set<Int>) {
        for (index, change) in changes.enumerated() where !refused.contains(index) {
            guard case .registered(let id, let registration, _, _, _) = change else { continue }
            add(id, pinning: registration.pinnedProvider)
        }
    }

    var text: String {
        let names = first.map(quoted).joined(separator: ", ") + (count > first.count ? ", …" : "")
        return (count == 1 ? "device \(names) trusts" : "\(count) devices trust")
            + " a provider key that this store does not have" + (count == 1 ? "" : ": \(names)")
    }
}

extension Console {
    /// Warns if a device trusts a foreign provider key.
    func warn(of foreign: ForeignProviders) {
        guard foreign.count > 0 else { return }
        warning(foreign.text)
        hint("unless you removed that key, somebody else enrolled it: see A foreign key in Docs/Devices.md")
    }
}

/// `device add --batch --reply`: registers a device for each line, and answers with the reply for its phone.
func addDevices(
    file path: String, to store: StoreArguments, _ batch: BatchArguments, _ console: Console
) throws {
    let run = Batch(verb: .registered, jobs: 1, options: batch, console: console)
    let store = try console.open(store)
    try run.run(
        file: path, maximumLine: DeviceLine.maximumLength, readLength: RegistrationWorker.readLength
    ) { try RegistrationWorker(store, console) }
}

/// Registers the devices of a batch, on its only thread: the lines of one device are taken in order.
///
/// Up to 4,096 lines of one read share a transaction, and are answered once it is on the disk.
private final class RegistrationWorker: LineWorker {
    /// The more lines share a transaction, the fewer pages each writes.
    static let readLength = 1 << 19

    /// A line needs memory even if it is empty.
    private static let maximumLines = 4096

    private var store: SQLiteKeyStore
    private let console: Console
    private let form: LineForm
    /// Whether a foreign key was warned of. Later ones are only in the replies, so that phones cannot fill a log.
    private var hasWarned = false
    /// Whether a stale store was warned of.
    private var hasWarnedOfStale = false

    init(_ store: SQLiteKeyStore, _ console: Console) throws {
        try store.prepareForManyChanges()
        self.store = store
        self.console = console
        var form = LineForm(.register, console)
        form.maximumLength = DeviceLine.maximumLength
        self.form = form
    }

    func answer(_ chunk: LineChunk, _ answers: inout Answers) {
        let lines = chunk.lines(form)
        for start in stride(from: 0, to: lines.count, by: Self.maximumLines) {
            var some = lines[start..<min(lines.count, start + Self.maximumLines)].map(RegistrationLine.init)
            register(&some)
            answers.tally.lines += some.count
            for line in some { line.write(in: &answers) }
        }
    }

    private func register(_ lines: inout [RegistrationLine]) {
        do {
            try followReplacement()
            let before = try RegistrationReplies(of: store, at: console.timestamp)
            for index in lines.indices { lines[index].check(before) }
            let due = lines.indices.filter { lines[$0].registration != nil }
            let devices = due.compactMap { lines[$0].registration }
            let refusals = try store.addDevices(
                devices.map { ($0.id, $0.registration, $0.signed, $0.owner) }, at: console.timestamp)
            // Read now: a key that was replaced before the devices were stored must not be sent.
            let replies = try RegistrationReplies(of: store, at: console.timestamp)
            var foreign = try ForeignProviders(of: store)
            for (index, refusal) in zip(due, refusals) {
                if refusal == nil { lines[index].check(replies) }
                lines[index].answer(refusal, replies, &foreign)
            }
            if !hasWarned { console.warn(of: foreign) }
            hasWarned = hasWarned || foreign.count > 0
            if !hasWarnedOfStale { console.warn(ofStale: replies.warning) }
            hasWarnedOfStale = hasWarnedOfStale || replies.warning != nil
        } catch {
            // The next lines may find the store usable again.
            for index in lines.indices { lines[index].fail(error) }
        }
    }

    /// Opens the database that has replaced this one, such as a restored backup.
    private func followReplacement() throws {
        guard try store.version().isReplaced else { return }
        store = try store.anotherConnection()
        try store.prepareForManyChanges()
    }
}

/// A line, and its answer.
private struct RegistrationLine {
    private let line: Line
    /// The device to register; nil once the line has its answer.
    private(set) var registration: DeviceLine?
    private var failure: (any Error)?
    private var reply: RegistrationReply?

    init(_ line: Line) {
        self.line = line
        do {
            try line.check()
            registration = try DeviceLine { line[$0] }
        } catch {
            failure = error
        }
    }

    mutating func check(_ replies: RegistrationReplies) {
        guard let registration else { return }
        do { try replies.check(registration.registration, of: registration.id) } catch { fail(error) }
    }

    /// Takes the answer of the store; nil if the device is registered.
    mutating func answer(
        _ refusal: KeyStoreError?, _ replies: RegistrationReplies, _ foreign: inout ForeignProviders
    ) {
        guard let device = registration else { return }
        do {
            if let refusal {
                if let refused = refusal.refusal {
                    reply = try replies.reply(to: device.registration, of: device.id, refused: refused)
                }
                throw refusal
            }
            let members = foreign.add(device.id, pinning: device.registration.pinnedProvider)
            reply = try replies.reply(to: device.registration, of: device.id, foreign: members)
            registration = nil
        } catch {
            fail(error)
        }
    }

    /// Ends with an error, unless the line has its answer.
    mutating func fail(_ error: any Error) {
        guard registration != nil else { return }
        (failure, registration) = (error, nil)
    }

    func write(in answers: inout Answers) {
        func write(_ json: inout JSONWriter) {
            line.write(["device", "user"], to: &json)
            if let reply { json.raw(reply.json, for: "reply") }
            line.write(["token", "environment"], to: &json)
        }
        let refusal = answers.answer(line, repeating: write) { json in
            if let failure { throw failure }
            write(&json)
        }
        if refusal == nil { answers.tally.done += 1 }
    }
}
