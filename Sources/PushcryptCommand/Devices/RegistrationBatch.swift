internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// `device add --batch --reply`: registers a device for each line, and answers with the reply for its phone.
func addDevices(
    file path: String, to store: StoreArguments, _ batch: BatchArguments, _ console: Console
) throws -> ExitCode {
    let run = Batch(.registered, jobs: 1, hasClearContent: false, batch, console)
    let store = try console.open(store)
    return try run.run(
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
        var form = LineForm(.register, OnceWarning(console))
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
    private func followReplacement() throws(KeyStoreError) {
        guard try store.version().isReplaced else { return }
        store = try store.anotherConnection()
        try store.prepareForManyChanges()
    }
}

/// A line, and its answer.
private struct RegistrationLine {
    private let line: Line
    /// What is to be registered; nil once the line has its answer.
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
