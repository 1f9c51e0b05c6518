import Foundation
import Pushcrypt
import PushcryptKeyStore
import TestPhone

@testable import PushcryptService

/// A sealed file and its reference.
struct SealedAttachment {
    let sealed: ContiguousArray<UInt8>
    let reference: AttachmentReference

    init(
        _ plain: ContiguousArray<UInt8>, at path: String = "file/photo", type: String = "public.jpeg",
        name: String = "photo.jpg"
    ) throws {
        var sealed = ContiguousArray<UInt8>()
        var first = AttachmentSealer.FirstPass()
        first.update(plain.span)
        var sealer = first.sealer(EnvelopeSigner(ProviderKey()))
        try sealer.seal(plain.span, into: &sealed)
        let file = try sealer.finish(into: &sealed)
        self.sealed = sealed
        reference = try AttachmentReference(
            url: "https://files.example/\(path)", file: file, type: type, name: name)
    }

    /// Bytes with a long period.
    static func plain(_ count: Int) -> ContiguousArray<UInt8> {
        ContiguousArray((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
    }
}

extension TestPhone {
    /// A configuration that downloads with the transport, to this phone's folder.
    func downloading(_ transport: PlayedTransport) -> NotificationServiceHandler.Configuration {
        var configuration = configuration
        configuration.transport = transport
        configuration.attachmentFolder = AttachmentFolder(folder)
        return configuration
    }
}

/// A scripted transport that records its requests.
final class PlayedTransport: AttachmentTransport {
    /// The script of one download.
    enum Play {
        /// Delivers these bytes, in pieces of this length, and ends.
        case bytes(ContiguousArray<UInt8>, piece: Int = 4096)
        /// Delivers these bytes and never ends.
        case stall(ContiguousArray<UInt8>)
        case fail(String)
    }

    private final class State {
        var asked: [String] = []
        var cancelled: [String] = []
        var running = 0
        var mostAtOnce = 0
    }

    private let state = Locked(State())
    private let plays: @Sendable (String) -> Play
    private let isImmediate: Bool

    init(isImmediate: Bool = false, _ plays: @escaping @Sendable (String) -> Play) {
        self.isImmediate = isImmediate
        self.plays = plays
    }

    var asked: [String] { state.withLock { $0.asked } }
    var cancelled: [String] { state.withLock { $0.cancelled } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func download(
        _ url: URL, atMost limit: UInt64, receive: @escaping @Sendable (Data) -> Bool,
        finish: @escaping @Sendable (TransportFailure?) -> Void
    ) -> any AttachmentTransfer {
        let path = String(url.path.dropFirst())
        state.withLock { state in
            state.asked.append(path)
            state.running += 1
            state.mostAtOnce = max(state.mostAtOnce, state.running)
        }
        let ending = Ending(receive) { [state] failure in
            state.withLock { $0.running -= 1 }
            finish(failure)
        }
        let play: @Sendable () -> Void = { [plays] in
            switch plays(path) {
            case .fail(let reason): ending.end(TransportFailure(reason))
            case .stall(let bytes): _ = ending.receive(Data(bytes))
            case .bytes(let bytes, let piece):
                for start in stride(from: 0, to: bytes.count, by: piece) {
                    let wanted = ending.receive(Data(bytes[start..<min(start + piece, bytes.count)]))
                    if !wanted { return ending.end(TransportFailure("not wanted")) }
                }
                ending.end(nil)
            }
        }
        if isImmediate { play() } else { Thread.detachNewThread(play) }
        return Transfer { [state] in
            state.withLock { $0.cancelled.append(path) }
            ending.end(TransportFailure("cancelled"))
        }
    }

    private struct Transfer: AttachmentTransfer {
        let body: @Sendable () -> Void

        func cancel() { body() }
    }

    /// Makes one callback at a time, and none after the end.
    private final class Ending: Sendable {
        private final class State {
            var isOver = false
        }

        private let state = Locked(State())
        private let piece: @Sendable (Data) -> Bool
        private let body: @Sendable (TransportFailure?) -> Void

        init(
            _ piece: @escaping @Sendable (Data) -> Bool, _ body: @escaping @Sendable (TransportFailure?) -> Void
        ) {
            self.piece = piece
            self.body = body
        }

        func receive(_ data: Data) -> Bool { state.withLock { $0.isOver ? false : piece(data) } }

        func end(_ failure: TransportFailure?) {
            let isFirst = state.withLock { state in
                defer { state.isOver = true }
                return !state.isOver
            }
            if isFirst { body(failure) }
        }
    }
}
