internal import Dispatch
internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore

/// Fetches the files of one push, two at a time and in their order. A failure drops only that file.
///
/// Any thread may call it. `stop` does not wait, and leaves no file behind. Not run on Apple systems.
final class Fetch: Sendable {
    typealias File = Result<URL, AttachmentProblem>

    private static let maximumConcurrentTransfers = 2

    private let references: [AttachmentReference]
    private let transport: any AttachmentTransport
    private let maximumSize: UInt64
    private let folder: AttachmentFolder
    private let ended: @Sendable () -> Void
    private let state: Locked<State>

    private struct State {
        var next = 0
        var isStopped = false
        var transfers: [Int: any AttachmentTransfer] = [:]
        var files: [File?]
    }

    /// - Parameter ended: Called after each file.
    init(
        _ references: [AttachmentReference], with transport: any AttachmentTransport, maximumSize: UInt64,
        in folder: AttachmentFolder, ended: @escaping @Sendable () -> Void
    ) {
        (self.references, self.transport, self.maximumSize) = (references, transport, maximumSize)
        (self.folder, self.ended) = (folder, ended)
        state = Locked(State(files: Array(repeating: nil, count: references.count)))
    }

    func start() {
        folder.removeLeftovers()
        for _ in 0..<Self.maximumConcurrentTransfers { startNext() }
    }

    /// A file or its problem; nil while it may still come.
    func file(_ index: Int) -> File? { state.withLock { $0.files[index] } }

    var isDone: Bool { state.withLock { !$0.files.contains { $0 == nil } } }

    /// Passes on the content of a fetched file, then removes the file.
    func read(_ index: Int, _ use: (Data) throws -> Void) throws {
        let file = try state.withLock { state in
            // One that comes later is removed.
            let file = state.files[index] ?? .failure(.stopped)
            state.files[index] = file
            return file
        }.get()
        defer { AttachmentFolder.remove(file) }
        try use(Data(contentsOf: file))
    }

    /// Gives up unfinished files.
    func giveUp() {
        let transfers = state.withLock { state in
            state.isStopped = true
            state.files = state.files.map { $0 ?? .failure(.stopped) }
            defer { state.transfers = [:] }
            return Array(state.transfers.values)
        }
        DispatchQueue.global(qos: .utility).async { for transfer in transfers { transfer.cancel() } }
    }

    /// Gives up unfinished files, and removes finished ones.
    func stop() {
        giveUp()
        let files = state.withLock { $0.files }
        DispatchQueue.global(qos: .utility).async {
            for case .success(let file)? in files { AttachmentFolder.remove(file) }
        }
    }

    // MARK: Transfers

    private func startNext() {
        let index: Int? = state.withLock { state in
            guard !state.isStopped, state.next < references.count else { return nil }
            defer { state.next += 1 }
            return state.next
        }
        guard let index else { return }
        let reference = references[index]
        guard reference.file.size <= maximumSize, let url = URL(string: reference.url) else {
            let problem = "its \(reference.file.size) bytes exceed the app's limit, or its url is not valid"
            return end(index, .failure(AttachmentProblem(problem)))
        }
        let download = AttachmentDownload(reference, in: folder.place())
        let transfer = transport.download(
            url, atMost: reference.file.size,
            receive: { [weak self] data in self?.isStopped == false && download.receive(data) },
            finish: { [weak self] failure in
                let file = download.finish(self == nil ? .cancelled : failure)
                self?.end(index, file)
            })
        let isTooLate = state.withLock { state in
            if state.files[index] == nil { state.transfers[index] = transfer }
            return state.isStopped
        }
        if isTooLate { transfer.cancel() }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func end(_ index: Int, _ file: File) {
        let isTooLate = state.withLock { state in
            state.transfers[index] = nil
            guard state.files[index] == nil else { return true }
            state.files[index] = file
            return false
        }
        if !isTooLate { ended() } else if case .success(let file) = file { AttachmentFolder.remove(file) }
        startNext()
    }
}

extension AttachmentProblem {
    static let stopped = AttachmentProblem(TransportFailure.cancelled.description)
}
