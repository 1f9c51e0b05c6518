internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

/// `device accept --serve`: takes posts from a web server over SCGI, one after another. (Docs/SelfHostedServer.md)
struct DeviceServe {
    /// A request has 64 KB at most, with its headers, and comes within 10 seconds.
    private static let longestRequest = 65_536
    private static let patience: UInt64 = 10_000

    let path: String
    let arguments: StoreArguments
    let console: Console

    /// Serves until a signal; what is open then is finished.
    func run() throws -> ExitCode {
        var store = OpenedStore(try console.open(arguments))
        do throws(SystemError) {
            let stop = try StopSignal()
            try stop.raiseOnSignals(waitingOn: SystemThread.start)
            let socket = try LocalSocket(path)
            console.changed("listening at \(path)")
            while let connection = try socket.next(unless: stop.descriptor) {
                let answer = answer(connection.descriptor, &store)
                // The web server may have gone.
                try? connection.descriptor.writeAll(answer.bytes.span)
            }
            return .done
        } catch {
            throw Failure.failed("cannot serve at \(quoted(path)): \(error.text)")
        }
    }

    private func answer(_ connection: Descriptor, _ store: inout OpenedStore) -> SCGI.Answer {
        let request: SCGI.Request
        do throws(SCGI.Refusal) {
            request = try SCGI.Request(
                from: connection, longest: Self.longestRequest, until: SystemEnvironment.uptime() + Self.patience)
        } catch {
            return SCGI.Answer(error.status)
        }
        guard request.method == "POST" else { return SCGI.Answer("405 Method Not Allowed") }
        do {
            let body = try accept(request.body, &store)
            return SCGI.Answer("200 OK", body)
        } catch {
            let error = Failure(error)
            console.warning(error.message)
            return SCGI.Answer(error.exit == .refused ? "404 Not Found" : "503 Service Unavailable")
        }
    }

    /// Takes a post, and writes what it was to standard output before it is answered.
    private func accept(
        _ text: ContiguousArray<UInt8>, _ store: inout OpenedStore
    ) throws -> ContiguousArray<UInt8> {
        let post = try DeviceAcceptCommand.post(text)
        let answer = try store.use { store in
            try DeviceAcceptCommand.accept(post, store, console)
        }
        try console.write(line: answer.json(withReply: false))
        return answer.body
    }
}

/// A store that is reopened with the same key when its files have been replaced, as by a restore.
private struct OpenedStore {
    private var store: SQLiteKeyStore

    init(_ store: SQLiteKeyStore) { self.store = store }

    /// Uses the store, and once more after a failure of its files.
    mutating func use<R>(_ body: (SQLiteKeyStore) throws -> R) throws -> R {
        try follow { (store) throws(KeyStoreError) in try store.version().isReplaced }
        do {
            return try body(store)
        } catch {
            let error = Failure(error)
            guard (error.cause as? KeyStoreError)?.code == .inputOutput else { throw error }
            try follow { _ in true }
            return try body(store)
        }
    }

    private mutating func follow(
        if isDue: (SQLiteKeyStore) throws(KeyStoreError) -> Bool
    ) throws {
        do throws(KeyStoreError) {
            if try isDue(store) { store = try store.anotherConnection() }
        } catch {
            // Never exit 65, which means that there is no such code.
            let failure = Failure(error)
            throw Failure(.failed, code: failure.code, failure.message, hints: failure.hints, cause: error)
        }
    }
}
