import Testing

@testable import PushcryptSend
@testable import Simulated

/// A connection whose far end is a list of frames.
private final class FarEnd {
    let session: HTTP2Session

    init() throws {
        session = try HTTP2Session(Destination(host: "localhost"))
        try write()
        try read(Self.frame(4))
        _ = session.takeEvents()
    }

    /// A frame (RFC 9113, section 4.1).
    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
    }

    static func settings(streams: UInt32) -> [UInt8] {
        frame(4, [0, 3] + stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: streams >> $0) })
    }

    /// Status 200, which is number 8 of the static table.
    static func accepted(_ stream: UInt8, isEnd: Bool = true) -> [UInt8] {
        frame(1, flags: isEnd ? 5 : 4, stream: stream, [0x88])
    }

    static func reset(_ stream: UInt8, code: UInt8) -> [UInt8] { frame(3, stream: stream, [0, 0, 0, code]) }
    static func goAway(last: UInt8) -> [UInt8] { frame(7, [0, 0, 0, last, 0, 0, 0, 0]) }

    func send(_ count: Int, bytes: Int = 2, written: Bool = true) throws {
        for number in 1...count {
            let message = Message(number: number, push: PushToSend(deviceToken: ""), end: .max)
            let request = Request(path: "/3/device/0a", body: .init(repeating: 0x20, count: bytes))
            try session.send(Sent([message], token: 0, at: 0), request)
        }
        if written { try write() }
    }

    func write() throws {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
        defer { unsafe room.deallocate() }
        while try unsafe session.write(into: room) > 0 {}
    }

    func read(_ bytes: [UInt8]) throws {
        try unsafe bytes.withUnsafeBytes { unsafe try session.read($0) }
    }

    /// The events, in words.
    var events: [String] {
        session.takeEvents().map { event in
            switch event {
            case .streams(let count): "streams \(count)"
            case .goingAway: "going away"
            case .answered(let sent, let response): "\(sent.number): \(response.status)"
            case .failed(let sent, let wasRead): "\(sent.number): \(wasRead ? "read" : "unread")"
            }
        }
    }
}

@Suite struct HTTP2SessionTests {
    @Test func anAnswerEndsItsRequest() throws {
        let end = try FarEnd()
        try end.send(2)
        try end.read(FarEnd.accepted(3))
        #expect(end.events == ["2: 200"])
        end.session.failAll()
        #expect(end.events == ["1: read"])
    }

    @Test func aRefusedStreamWasNotRead() throws {
        let end = try FarEnd()
        try end.send(2)
        try end.read(FarEnd.reset(1, code: 7) + FarEnd.reset(3, code: 2))
        #expect(end.events == ["1: unread", "2: read"])
    }

    @Test func whatIsAboveTheLastOfGoAwayWasNotRead() throws {
        let end = try FarEnd()
        try end.send(3)
        try end.read(FarEnd.goAway(last: 3))
        #expect(Set(end.events) == ["going away", "3: unread"])
        end.session.failAll()
        #expect(Set(end.events) == ["1: read", "2: read"])
    }

    @Test func whatIsNotSentWasNotRead() throws {
        let end = try FarEnd()
        try end.send(1, written: false)
        end.session.failAll()
        #expect(end.events == ["1: unread"])
    }

    @Test func theStatusOfAnAcceptedMessageIsEnough() throws {
        let end = try FarEnd()
        try end.send(1)
        try end.read(FarEnd.accepted(1, isEnd: false))
        #expect(end.events == [])
        end.session.failAll()
        #expect(end.events == ["1: 200"])
    }

    @Test(arguments: [(100, 100), (4_000_000, 1000), (0, 0)])
    func streamsAreAsManyAsAPNsAllows(_ count: UInt32, _ most: Int) throws {
        let end = try FarEnd()
        try end.read(FarEnd.settings(streams: count))
        #expect(end.events == ["streams \(most)"])
    }

    /// The window of a connection has 65,535 bytes (RFC 9113, section 6.9.2); what it does not hold is not handed to it.
    @Test func aFullWindowTakesNoMore() throws {
        let end = try FarEnd()
        try end.send(15, bytes: 4096, written: false)
        #expect(end.session.hasRoom)
        try end.send(1, bytes: 4096, written: false)
        #expect(!end.session.hasRoom, "the last byte is too much")
        try end.write()
        #expect(!end.session.hasRoom)
        try end.read(FarEnd.frame(8, [0, 0, 0x20, 0]))
        #expect(end.session.hasRoom)
        try end.write()
        #expect(end.session.hasRoom)
        end.session.failAll()
        #expect(end.events.allSatisfy { $0.hasSuffix(": read") })
    }

    @Test func aCancelledBodyMakesRoom() throws {
        let end = try FarEnd()
        let message = Message(number: 7, push: PushToSend(deviceToken: ""), end: .max)
        let sent = Sent([message], token: 0, at: 0)
        try end.session.send(sent, Request(path: "/", body: .init(repeating: 0, count: 100_000)))
        #expect(!end.session.hasRoom)
        #expect(end.session.cancel(sent) == false)
        #expect(end.session.hasRoom)
    }
}
