import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

private let senderOfAll = ProviderKey().publicKey

/// The common fixture of the replay file's suites: a file, a message to take, and the expected result.
protocol ReplayFileSuite: Sendable {}

extension ReplayFileSuite {
    var sender: ProviderPublicKey { senderOfAll }

    /// A store's directory, with or without a guard made at `start`.
    func directory(withGuard: Bool = true) throws -> Scratch {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        if withGuard { _ = try ReplayFile.create(in: scratch.store, floor: start) }
        return scratch
    }

    func open(
        _ path: String, at now: Timestamp = start, waiting milliseconds: Int32 = StoreOptions.patience
    ) -> ReplayFile {
        .open(in: path, at: now, busyTimeout: milliseconds)
    }

    func message(
        _ id: UInt64 = 1, request: String = "r", account: String = "default", sentAt: Timestamp = start + 1
    ) -> ReplayMessage {
        ReplayMessage(
            MessageID(id), from: sender, to: account, requestID: request, sentAt: sentAt, expiresAt: sentAt + 600)
    }

    func take(
        _ file: ReplayFile, _ id: UInt64 = 1, request: String = "r", sentAt: Timestamp = start + 1,
        at now: Timestamp = start + 1
    ) -> ReplayClaim {
        file.take(message(id, request: request, sentAt: sentAt), at: now)
    }

    func handOver(
        _ file: ReplayFile, _ id: UInt64 = 1, request: String = "r", after verdict: ReplayVerdict = .new
    ) -> ReplayHandover {
        file.handOver(message(id, request: request), after: verdict, at: start + 1)
    }

    func expect(
        _ taking: ReplayClaim, _ verdict: ReplayVerdict, problem: KeyStoreError.Code? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(taking.verdict == verdict, sourceLocation: location)
        #expect(taking.problem?.code == problem, sourceLocation: location)
    }

    func expect(
        _ handover: ReplayHandover, rings: Bool, problem: KeyStoreError.Code? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(handover.rings == rings, sourceLocation: location)
        #expect(handover.problem?.code == problem, sourceLocation: location)
    }
}
