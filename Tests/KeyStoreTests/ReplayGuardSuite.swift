import Glibc
import Pushcrypt
import Testing

@testable import PushcryptKeyStore

private let providerOfAll = ProviderKey().publicKey

extension ReplayTables {
    /// The rows of a guard made at `start`, in memory.
    static func inMemory() throws(KeyStoreError) -> ReplayTables {
        let connection = try SQLiteConnection(path: SQLiteConnection.memory, busyTimeout: 0)
        try connection.declare(Declarations(schema))
        try fill(connection, floor: start)
        return ReplayTables(connection: connection)
    }
}

/// The common fixture of the replay guard's suites: a file, a message to take, and the expected result.
protocol ReplayGuardSuite: Sendable {}

extension ReplayGuardSuite {
    var provider: ProviderPublicKey { providerOfAll }

    /// A store's directory, with or without a guard made at `start`.
    func directory(withGuard: Bool = true) throws -> Scratch {
        let scratch = try Scratch()
        try #require(unsafe mkdir(scratch.store, 0o700) == 0)
        if withGuard { _ = try ExtensionDatabase.create(in: scratch.store, floor: start).replay }
        return scratch
    }

    func open(
        _ path: String, waiting milliseconds: Int32 = StoreOptions.patience, room: Int = ReplayRules.maximumRows
    ) -> ReplayGuard {
        ExtensionDatabase(in: path, busyTimeout: milliseconds, maximumRows: room).replay
    }

    func message(
        _ id: UInt64 = 1, request: String = "r", account: String = "default", sentAt: Timestamp = start + 1
    ) -> ReplayMessage {
        ReplayMessage(
            MessageID(id), from: provider, epoch: 0, trustFloor: 0, to: account, requestID: request, sentAt: sentAt,
            expiresAt: sentAt + 600)
    }

    func take(
        _ file: ReplayGuard, _ id: UInt64 = 1, request: String = "r", sentAt: Timestamp = start + 1,
        at now: Timestamp = start + 1
    ) -> ReplayClaim {
        file.take(message(id, request: request, sentAt: sentAt), at: now)
    }

    func handOver(
        _ file: ReplayGuard, _ id: UInt64 = 1, request: String = "r", after verdict: ReplayVerdict = .new
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

    func expect(_ handover: ReplayHandover, rings: Bool, _ location: SourceLocation = #_sourceLocation) {
        #expect(handover.rings == rings && handover.problem == nil, sourceLocation: location)
    }
}

extension ReplayGuard {
    /// Hands a message over that was taken with this verdict.
    func handOver(_ message: ReplayMessage, after verdict: ReplayVerdict, at now: Timestamp) -> ReplayHandover {
        handOver(message, after: ReplayClaim(ReplayRules.Finding(verdict: verdict, isQuiet: false)), at: now).handover
    }
}
