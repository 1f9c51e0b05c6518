internal import CNghttp2

/// The client's half of an HTTP/2 connection, without its socket: bytes go in and out, and what happened is a list.
@safe
final class HTTP2Session {
    enum Event {
        /// The other side says how many requests may be open.
        case streams(Int)
        /// It ends the connection, for a reason that it gives or not.
        case goingAway(String)
        case answered(Sent, Response)
        /// A request ended without an answer; `wasRead` is false if it was certainly not processed.
        case failed(Sent, wasRead: Bool)
    }

    /// The most requests that are open, whatever the other side allows.
    static let maximumStreams = 1000

    private var session: OpaquePointer?
    private var streams: [Int32: HTTP2Stream] = [:]
    private var events: [Event] = []
    /// The names and values of a request's headers, one after the other.
    private var fields: ContiguousArray<UInt8> = []
    private let destination: Destination
    private let longestAnswer: Int
    /// The bytes of bodies that have not gone out.
    private var unsent = 0
    private var serverTime = ServerTime()

    /// - Parameter longestAnswer: The longest body of an answer, in bytes; more is not read.
    init(_ destination: Destination, longestAnswer: Int = PushAnswer.maximumBody) throws(HTTP2Error) {
        (self.destination, self.longestAnswer) = (destination, longestAnswer)
        var callbacks: OpaquePointer?
        try check(unsafe nghttp2_session_callbacks_new(&callbacks))
        defer { unsafe nghttp2_session_callbacks_del(callbacks) }
        unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, count, value, length, _, own in
            guard let frame = unsafe frame, let name = unsafe name, let value = unsafe value else { return 0 }
            unsafe HTTP2Session.of(own)?.header(
                unsafe UnsafeBufferPointer(start: name, count: count),
                unsafe UnsafeBufferPointer(start: value, count: length), of: unsafe frame.pointee.hd.stream_id)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, own in
            guard let bytes = unsafe bytes else { return 0 }
            unsafe HTTP2Session.of(own)?.body(UnsafeBufferPointer(start: bytes, count: count), of: stream)
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, own in
            if let frame = unsafe frame { unsafe HTTP2Session.of(own)?.received(frame.pointee) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, own in
            if let frame = unsafe frame { unsafe HTTP2Session.of(own)?.sent(frame.pointee) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, own in
            if let frame = unsafe frame { unsafe HTTP2Session.of(own)?.notSent(frame.pointee) }
            return 0
        }
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, own in
            unsafe HTTP2Session.of(own)?.closed(stream, code)
            return 0
        }
        try check(unsafe nghttp2_session_client_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque()))
        var settings = [nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)]
        try check(unsafe nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &settings, settings.count))
    }

    deinit {
        unsafe nghttp2_session_del(session)
    }

    private static func of(_ own: UnsafeMutableRawPointer?) -> HTTP2Session? {
        unsafe own.map { unsafe Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private func check(_ code: Int32) throws(HTTP2Error) {
        guard code == 0 else { throw HTTP2Error(code: code) }
    }

    /// Removes and returns what happened since the last call.
    func takeEvents() -> [Event] {
        guard !events.isEmpty else { return [] }
        defer { events.removeAll(keepingCapacity: true) }
        return events
    }
}

// MARK: Requests

extension HTTP2Session {
    /// Queues a request. Throws if this connection can have no more.
    func send(_ sent: Sent, _ request: Request) throws(HTTP2Error) {
        fields.removeAll(keepingCapacity: true)
        var lengths: [(name: Int, value: Int, isSecret: Bool)] = []
        lengths.reserveCapacity(11)
        func add(_ name: String, _ value: String, isSecret: Bool = false) {
            fields.append(contentsOf: name.utf8)
            fields.append(contentsOf: value.utf8)
            lengths.append((name.utf8.count, value.utf8.count, isSecret))
        }
        // nghttp2 sends them in this order, and pseudo headers must be first.
        add(":method", request.method)
        add(":scheme", destination.isSecure ? "https" : "http")
        add(":authority", destination.authority)
        add(":path", request.path)
        if let authorization = request.authorization { add("authorization", authorization, isSecret: true) }
        for header in request.headers { add(header.name, header.value) }
        add("content-length", "\(request.body.count)")

        // The context of the stream is found by its number, which is known only afterwards: the body is read later.
        let stream = unsafe fields.withUnsafeMutableBufferPointer { bytes -> Int32 in
            guard var next = bytes.baseAddress else { return Int32(NGHTTP2_ERR_INVALID_ARGUMENT.rawValue) }
            var headers: [nghttp2_nv] = unsafe []
            unsafe headers.reserveCapacity(lengths.count)
            for length in lengths {
                // Kept out of the compression tables of both sides.
                let flag = length.isSecret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE
                unsafe headers.append(
                    nghttp2_nv(
                        name: next, value: next + length.name, namelen: length.name, valuelen: length.value,
                        flags: UInt8(flag.rawValue)))
                unsafe next += length.name + length.value
            }
            var provider = unsafe nghttp2_data_provider()
            unsafe provider.read_callback = { _, stream, buffer, room, flags, _, own in
                guard let buffer = unsafe buffer, let flags = unsafe flags else {
                    return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
                }
                let room = unsafe UnsafeMutableBufferPointer(start: buffer, count: room)
                guard let read = unsafe HTTP2Session.of(own)?.readBody(of: stream, into: room) else {
                    return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
                }
                if read.isLast { unsafe flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
                return read.count
            }
            return unsafe nghttp2_submit_request(session, nil, headers, headers.count, &provider, nil)
        }
        guard stream > 0 else { throw HTTP2Error(code: stream) }
        streams[stream] = HTTP2Stream(sent, request.body)
        unsent += request.body.count
    }

    /// Whether a body that is queued now can go out: the window of the connection has room behind those before it.
    var hasRoom: Bool { unsafe unsent < nghttp2_session_get_remote_window_size(session) }

    private func readBody(of stream: Int32, into room: UnsafeMutableBufferPointer<UInt8>) -> (count: Int, isLast: Bool)?
    {
        guard let stream = streams[stream] else { return nil }
        let count = min(room.count, stream.body.count - stream.written)
        let end = stream.written + count
        unsafe stream.body.withUnsafeBufferPointer { bytes in
            let part = unsafe UnsafeBufferPointer(rebasing: bytes[stream.written..<end])
            _ = unsafe room.update(fromContentsOf: part)
        }
        stream.written = end
        unsent -= count
        return (count, end == stream.body.count)
    }

    /// Ends a request; returns whether it may have been read, or nil if it has ended: then there is an event.
    func cancel(_ sent: Sent) -> Bool? {
        guard let (number, stream) = streams.first(where: { $0.value.sent === sent }) else { return nil }
        forget(number)
        // Fails only without memory, and then the connection ends at the next write.
        _ = unsafe nghttp2_submit_rst_stream(
            session, UInt8(NGHTTP2_FLAG_NONE.rawValue), number, UInt32(NGHTTP2_CANCEL.rawValue))
        guard !stream.isDecided else {
            end(stream, wasRead: true)
            return nil
        }
        return stream.isSent
    }

    private func forget(_ number: Int32) {
        guard let stream = streams.removeValue(forKey: number) else { return }
        unsent -= stream.body.count - stream.written
    }

    /// Ends every request that is open, because the connection has ended.
    func failAll() {
        for stream in streams.values { end(stream, wasRead: stream.isSent) }
        (streams, unsent) = ([:], 0)
    }

    /// Queues a PING.
    func ping() {
        _ = unsafe nghttp2_submit_ping(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Queues the end of the connection.
    func goAway() {
        _ = unsafe nghttp2_session_terminate_session(session, UInt32(NGHTTP2_NO_ERROR.rawValue))
    }

    private func end(_ stream: HTTP2Stream, wasRead: Bool) {
        let isAnswered = stream.isDecided
        events.append(isAnswered ? .answered(stream.sent, stream.response) : .failed(stream.sent, wasRead: wasRead))
    }
}

// MARK: Bytes

extension HTTP2Session {
    /// Copies bytes for the peer into `room`, at least 16 KiB, and returns their number; 0 if there are none.
    func write(into room: UnsafeMutableRawBufferPointer) throws(HTTP2Error) -> Int {
        var count = 0
        // A piece is a frame, of at most 16 KiB and its header.
        while room.count - count >= Self.largestPiece {
            var piece: UnsafePointer<UInt8>?
            let length = unsafe nghttp2_session_mem_send(session, &piece)
            guard length >= 0 else { throw HTTP2Error(code: Int32(clamping: length)) }
            guard length > 0, let piece = unsafe piece else { break }
            guard length <= room.count - count else { throw HTTP2Error(code: Int32(NGHTTP2_ERR_BUFFER_ERROR.rawValue)) }
            unsafe room.baseAddress.map { unsafe ($0 + count).copyMemory(from: piece, byteCount: length) }
            count += length
        }
        return count
    }

    /// The most that nghttp2 returns at once.
    static let largestPiece = 17_000

    /// Takes bytes of the peer.
    func read(_ bytes: UnsafeRawBufferPointer) throws(HTTP2Error) {
        let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let length = unsafe nghttp2_session_mem_recv(session, base, bytes.count)
        guard length >= 0 else { throw HTTP2Error(code: Int32(clamping: length)) }
    }

    /// Whether the connection can be closed: both sides are done.
    var isOver: Bool { unsafe nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0 }
}

// MARK: Callbacks

extension HTTP2Session {
    private func header(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, of number: Int32) {
        guard let stream = streams[number] else { return }
        func text() -> String { unsafe String(decoding: value, as: UTF8.self) }
        // Names this short are compared without memory for them.
        switch unsafe String(decoding: name.prefix(15), as: UTF8.self) {
        case ":status": stream.response.status = Int(text()) ?? 0
        case "apns-id": stream.response.apnsID = text()
        case "retry-after": stream.response.retryAfter = text()
        case "date": stream.response.time = unsafe serverTime.milliseconds(value)
        default: break
        }
    }

    private func body(_ bytes: UnsafeBufferPointer<UInt8>, of number: Int32) {
        guard let stream = streams[number] else { return }
        let room = longestAnswer - stream.response.body.count
        unsafe stream.response.body.append(contentsOf: bytes.prefix(room))
    }

    private func received(_ frame: nghttp2_frame) {
        let header = unsafe frame.hd
        let isEnd = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            if isEnd, let stream = streams[header.stream_id], stream.response.status >= 200 { stream.isAnswered = true }
        case NGHTTP2_SETTINGS.rawValue:
            guard header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 else { return }
            let streams = unsafe nghttp2_session_get_remote_settings(
                session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
            events.append(.streams(min(Self.maximumStreams, Int(streams))))
        case NGHTTP2_GOAWAY.rawValue:
            let goAway = unsafe frame.goaway
            let text = unsafe UnsafeBufferPointer(start: goAway.opaque_data, count: min(200, goAway.opaque_data_len))
            let reason = unsafe PushAnswer(Response(body: ContiguousArray(text))).reason
            events.append(.goingAway(reason ?? "code \(unsafe goAway.error_code)"))
        default: break
        }
    }

    private func sent(_ frame: nghttp2_frame) {
        let header = unsafe frame.hd
        guard header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
        streams[header.stream_id]?.isSent = true
    }

    private func notSent(_ frame: nghttp2_frame) {
        let header = unsafe frame.hd
        guard UInt32(header.type) == NGHTTP2_HEADERS.rawValue else { return }
        guard let stream = streams[header.stream_id] else { return }
        forget(header.stream_id)
        end(stream, wasRead: false)
    }

    private func closed(_ number: Int32, _ code: UInt32) {
        guard let stream = streams[number] else { return }
        forget(number)
        // Above the last stream of GOAWAY, nghttp2 gives this code too.
        let isRefused = code == UInt32(NGHTTP2_REFUSED_STREAM.rawValue)
        end(stream, wasRead: stream.isSent && !isRefused)
    }
}

/// A request that is open.
private final class HTTP2Stream {
    let sent: Sent
    let body: ContiguousArray<UInt8>
    var written = 0
    /// Whether the last byte of the request was handed to the connection.
    var isSent = false
    var response = Response()
    /// Whether the whole answer has arrived.
    var isAnswered = false
    /// Whether APNs has decided: for a message that it takes, with the headers of its answer.
    var isDecided: Bool { isAnswered || response.status == 200 }

    init(_ sent: Sent, _ body: ContiguousArray<UInt8>) { (self.sent, self.body) = (sent, body) }
}

/// An error of nghttp2, such as a peer that breaks the protocol.
struct HTTP2Error: Error {
    let code: Int32

    var text: String {
        unsafe nghttp2_strerror(code).map { unsafe String(cString: $0) }.map {
            $0.prefix(1).lowercased() + $0.dropFirst()
        }
            ?? "HTTP/2 error \(code)"
    }
}
