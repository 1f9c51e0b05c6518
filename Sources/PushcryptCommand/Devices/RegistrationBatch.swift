internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// `device add --batch --reply`: registers a device for each line, and answers with the reply for its phone.
func addDevices(
    file path: String, to store: StoreArguments, _ batch: BatchArguments, _ console: Console
) throws(CommandFailure) -> ExitCode {
    let run = try BatchRun(.registered, jobs: 1, hasClearContent: false, batch, console)
    let store = try console.open(store)
    return try run.run(
        file: path, maximumLine: DeviceLine.maximumLength, readLength: RegistrationWorker.readLength
    ) { () throws(CommandFailure) in try RegistrationWorker(store, console) }
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
    private let warning: OnceWarning
    /// Whether a foreign key was warned of. Later ones are only in the replies, so that phones cannot fill a log.
    private var hasWarned = false
    /// Whether a stale store was warned of.
    private var hasWarnedOfStale = false

    init(_ store: SQLiteKeyStore, _ console: Console) throws(CommandFailure) {
        try withStoreErrors { () throws(KeyStoreError) in try store.prepareForManyChanges() }
        self.store = store
        self.console = console
        warning = OnceWarning(console)
    }

    func answer(_ chunk: LineChunk, inParts _: @escaping Part) -> BatchAnswer {
        var lines: [RegistrationLine] = []
        var answer = BatchAnswer()
        chunk.forEachLine(maximum: DeviceLine.maximumLength) {
            lines.append(RegistrationLine($0, $1, warning))
            if lines.count == Self.maximumLines { self.answer(&lines, in: &answer) }
        }
        self.answer(&lines, in: &answer)
        return answer
    }

    private func answer(_ lines: inout [RegistrationLine], in answer: inout BatchAnswer) {
        register(&lines)
        answer.tally.lines += lines.count
        for line in lines { answer.add(line) }
        lines.removeAll(keepingCapacity: true)
    }

    private func register(_ lines: inout [RegistrationLine]) {
        do throws(CommandFailure) {
            try withStoreErrors { () throws(KeyStoreError) in try followReplacement() }
            let before = try RegistrationReplies(of: store)
            for index in lines.indices { lines[index].check(before) }
            let due = lines.indices.filter { lines[$0].registration != nil }
            let devices = due.compactMap { lines[$0].registration }
            let refusals = try withStoreErrors { () throws(KeyStoreError) in
                try store.addDevices(
                    devices.map { ($0.id, $0.registration, $0.signed, $0.owner) }, at: console.timestamp)
            }
            // Read now: a key that was replaced before the devices were stored must not be sent.
            let replies = try RegistrationReplies(of: store)
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
            for index in lines.indices { lines[index].fail(LineFailure(error)) }
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
    private static let reserved: Set = ["reply"]

    let number: Int
    /// Nil if the line is not an object.
    private(set) var line: BatchLine?
    /// What is to be registered; nil once the line has its answer.
    private(set) var registration: DeviceLine?
    private(set) var failure: LineFailure?
    private(set) var reply: RegistrationReply?

    init(_ number: Int, _ text: LineChunk.Line, _ warning: OnceWarning) {
        self.number = number
        do throws(LineFailure) {
            guard case .text(let text) = text else { throw .lineTooLong(maximum: DeviceLine.maximumLength) }
            let line = try BatchLine(text, names: DeviceLine.names, reserved: Self.reserved, warning)
            self.line = line
            try line.refuseReserved()
            do throws(CommandFailure) {
                registration = try DeviceLine { line[$0] }
            } catch {
                throw LineFailure(error)
            }
        } catch {
            failure = error
        }
    }

    mutating func check(_ replies: RegistrationReplies) {
        guard let registration else { return }
        do throws(CommandFailure) {
            try replies.check(registration.registration, of: registration.id)
        } catch {
            fail(LineFailure(error))
        }
    }

    /// Takes the answer of the store; nil if the device is registered.
    mutating func answer(
        _ refusal: KeyStoreError?, _ replies: RegistrationReplies, _ foreign: inout ForeignProviders
    ) {
        guard let device = registration else { return }
        do throws(CommandFailure) {
            if let error = refusal {
                if let refusal = error.refusal {
                    reply = try replies.reply(to: device.registration, of: device.id, refused: refusal)
                }
                return fail(LineFailure(error))
            }
            let members = foreign.add(device.id, pinning: device.registration.pinnedProvider)
            reply = try replies.reply(to: device.registration, of: device.id, foreign: members)
            registration = nil
        } catch {
            fail(LineFailure(error))
        }
    }

    /// Ends with an error, unless the line has its answer.
    mutating func fail(_ failure: LineFailure) {
        guard registration != nil else { return }
        self.failure = failure
        registration = nil
    }
}

extension BatchAnswer {
    fileprivate mutating func add(_ line: RegistrationLine) {
        append { json in
            line.failure?.write(line: line.number, to: &json)
            line.line?.write(["device", "user"], to: &json)
            if let reply = line.reply { json.raw(reply.json, for: "reply") }
            line.line?.write(["token", "environment"], to: &json)
            line.line?.writePassed(to: &json)
        }
        if let failure = line.failure { tally.refused[failure.code, default: 0] += 1 } else { tally.done += 1 }
    }
}
