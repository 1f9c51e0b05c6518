import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

private let senderOfAll = SenderKey().publicKey

/// The common fixture of the replay file's suites: a file, a message to judge, and the expected result.
protocol ReplayFileSuite: Sendable {}

extension ReplayFileSuite {
    var sender: SenderPublicKey { senderOfAll }

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

    func judge(
        _ file: ReplayFile, _ id: UInt64 = 1, request: String = "r", sentAt: Timestamp = start + 1,
        at now: Timestamp = start + 1
    ) -> ReplayJudgement {
        file.judge(
            sender: sender, messageID: MessageID(id), requestID: request, sentAt: sentAt, expiresAt: sentAt + 600,
            at: now)
    }

    func expect(
        _ judgement: ReplayJudgement, _ verdict: ReplayVerdict, problem: KeyStoreError.Code? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(judgement.verdict == verdict, sourceLocation: location)
        #expect(judgement.problem?.code == problem, sourceLocation: location)
    }
}
