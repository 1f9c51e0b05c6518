internal import PushcryptCommandKit

/// The protocol between a web server and a program behind it: headers as a netstring, then the body.
enum SCGI {
    /// Why a request is not answered by the program.
    enum Refusal: Error {
        case malformed, tooLarge, tooSlow, gone

        var status: String {
            switch self {
            case .malformed, .gone: "400 Bad Request"
            case .tooLarge: "413 Content Too Large"
            case .tooSlow: "408 Request Timeout"
            }
        }
    }

    struct Request {
        let method: String
        let body: ContiguousArray<UInt8>

        /// Reads a request.
        ///
        /// - Parameters:
        ///   - longest: The most bytes, with the headers.
        ///   - end: When it has to be there, by the process's clock.
        init(from connection: Descriptor, longest: Int, until end: UInt64) throws(Refusal) {
            var input = Input(connection: connection, longest: longest, end: end)
            var length = 0
            while let digit = try input.next(), digit != UInt8(ascii: ":") {
                guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit, length <= longest else { throw .malformed }
                length = length * 10 + Int(digit - UInt8(ascii: "0"))
            }
            let fields = try input.take(length).split(separator: 0, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            guard try input.next() == UInt8(ascii: ","), fields.count % 2 == 1 else { throw .malformed }
            var headers: [String: String] = [:]
            for index in stride(from: 0, to: fields.count - 1, by: 2) { headers[fields[index]] = fields[index + 1] }
            guard headers["SCGI"] == "1", let count = headers["CONTENT_LENGTH"].flatMap({ Int($0) }), count >= 0
            else { throw .malformed }
            method = headers["REQUEST_METHOD"] ?? ""
            body = ContiguousArray(try input.take(count))
        }
    }

    struct Answer {
        let bytes: ContiguousArray<UInt8>

        init(_ status: String, _ body: ContiguousArray<UInt8> = []) {
            let type = body.isEmpty ? "text/plain" : "application/json"
            let head = "Status: \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n\r\n"
            bytes = ContiguousArray(head.utf8) + body
        }
    }

    /// What has come over a connection, up to a limit and a time.
    private struct Input {
        let connection: Descriptor
        let longest: Int
        let end: UInt64
        private var bytes = ContiguousArray<UInt8>()
        private var start = 0

        init(connection: Descriptor, longest: Int, end: UInt64) {
            (self.connection, self.longest, self.end) = (connection, longest, end)
        }

        mutating func next() throws(Refusal) -> UInt8? { try take(1).first }

        mutating func take(_ count: Int) throws(Refusal) -> ArraySlice<UInt8> {
            guard count <= longest - start else { throw .tooLarge }
            while bytes.count < start + count { try read() }
            defer { start += count }
            return ArraySlice(bytes[start..<start + count])
        }

        private mutating func read() throws(Refusal) {
            let now = SystemEnvironment.uptime()
            do throws(SystemError) {
                guard now < end, try connection.isReadable(withinMilliseconds: Int32(clamping: end - now)) else {
                    throw SystemError(code: 0)
                }
                var room = ContiguousArray<UInt8>(repeating: 0, count: 16_384)
                var span = room.mutableSpan
                let count = try connection.readSome(into: &span, from: 0)
                guard count > 0 else { throw .notFound }
                bytes.append(contentsOf: room[..<count])
            } catch {
                throw error.code == 0 ? .tooSlow : .gone
            }
        }
    }
}
