internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptKeyStore

extension Console {
    /// `device accept --serve`: takes posts from a web server over SCGI, one after another, until a signal; the post under way
    /// is finished. (Docs/SelfHostedServer.md)
    func serve(at path: String, _ arguments: StoreArguments) throws {
        var store = OpenedStore(try open(arguments))
        do {
            let stop = try StopSignal()
            try stop.raiseOnSignals(waitingOn: SystemThread.start)
            let socket = try LocalSocket(path)
            changed("listening at \(path)")
            while let connection = try socket.next(unless: stop.descriptor) {
                let answer = answer(connection.descriptor, &store)
                // The web server may have gone.
                try? connection.descriptor.writeAll(answer.span)
            }
        } catch {
            throw Failure.failed("cannot serve at \(quoted(path)): \(error.text)")
        }
    }

    private func answer(_ connection: Descriptor, _ store: inout OpenedStore) -> ContiguousArray<UInt8> {
        do {
            let request = try SCGI.Request(from: connection)
            guard request.method == "POST" else { return SCGI.answer("405 Method Not Allowed") }
            let post = try PhonePost(posted: request.body)
            let answer = try store.use { store in try accept(post, store) }
            // The line about it comes before the answer.
            try write(line: answer.json(withReply: false))
            return SCGI.answer("200 OK", answer.body)
        } catch let refusal as SCGI.Refusal {
            return SCGI.answer(refusal.rawValue)
        } catch {
            let error = Failure(error)
            warning(error.message)
            return SCGI.answer(error.exit == .refused ? "404 Not Found" : "503 Service Unavailable")
        }
    }
}

/// A store that is reopened with the same key when its files have been replaced, as by a restore.
private struct OpenedStore {
    private var store: SQLiteKeyStore

    init(_ store: SQLiteKeyStore) { self.store = store }

    /// Uses the store, and once more after a failure of its files.
    mutating func use<R>(_ body: (SQLiteKeyStore) throws -> R) throws -> R {
        if try failing({ try store.version().isReplaced }) { try reopen() }
        do {
            return try body(store)
        } catch {
            let error = Failure(error)
            guard (error.cause as? KeyStoreError)?.code == .inputOutput else { throw error }
            try reopen()
            return try body(store)
        }
    }

    private mutating func reopen() throws { store = try failing { try store.anotherConnection() } }
}

/// The protocol between a web server and a program behind it: headers as a netstring, then the body.
enum SCGI {
    /// The status of a request that the program does not answer.
    enum Refusal: String, Error {
        /// Or the web server is gone.
        case malformed = "400 Bad Request"
        case tooLarge = "413 Content Too Large"
        case tooSlow = "408 Request Timeout"
    }

    struct Request {
        let method: String
        let body: ContiguousArray<UInt8>

        init(from connection: Descriptor) throws {
            var input = Input(connection)
            var length = 0
            while let digit = try input.next(), digit != UInt8(ascii: ":") {
                guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit, length <= Input.longest else {
                    throw Refusal.malformed
                }
                length = length * 10 + Int(digit - UInt8(ascii: "0"))
            }
            let fields = try input.take(length).split(separator: 0, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard try input.next() == UInt8(ascii: ","), fields.count % 2 == 1 else { throw Refusal.malformed }
            var headers: [String: String] = [:]
            for index in stride(from: 0, to: fields.count - 1, by: 2) { headers[fields[index]] = fields[index + 1] }
            guard headers["SCGI"] == "1", let count = headers["CONTENT_LENGTH"].flatMap({ Int($0) }), count >= 0
            else { throw Refusal.malformed }
            method = headers["REQUEST_METHOD"] ?? ""
            body = ContiguousArray(try input.take(count))
        }
    }

    static func answer(_ status: String, _ body: ContiguousArray<UInt8> = []) -> ContiguousArray<UInt8> {
        let type = body.isEmpty ? "text/plain" : "application/json"
        let head = "Status: \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"
        return ContiguousArray(head.utf8) + body
    }

    /// The bytes that have come over a connection.
    private struct Input {
        /// The most bytes, with the headers.
        static let longest = 65_536

        private let connection: Descriptor
        /// The deadline of the request: 10 seconds after the connection.
        private let end = SystemEnvironment.uptime() + 10_000
        private var bytes = ContiguousArray<UInt8>()
        private var start = 0

        init(_ connection: Descriptor) { self.connection = connection }

        mutating func next() throws -> UInt8? { try take(1).first }

        mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
            guard count <= Self.longest - start else { throw Refusal.tooLarge }
            while bytes.count < start + count { try read() }
            defer { start += count }
            return ArraySlice(bytes[start..<start + count])
        }

        private mutating func read() throws {
            let now = SystemEnvironment.uptime()
            guard now < end else { throw Refusal.tooSlow }
            do {
                guard try connection.isReadable(withinMilliseconds: Int32(clamping: end - now)) else {
                    throw Refusal.tooSlow
                }
                var room = ContiguousArray<UInt8>(repeating: 0, count: 16_384)
                var span = room.mutableSpan
                let count = try connection.readSome(into: &span, from: 0)
                guard count > 0 else { throw Refusal.malformed }
                bytes.append(contentsOf: room[..<count])
            } catch is SystemError {
                throw Refusal.malformed
            }
        }
    }
}
