import Dispatch
import Foundation
import Pushcrypt

protocol KeyService: Sendable {
    func sign(_ message: Data) async throws -> Data
}

/// A signer whose key stays in a service with an async client, to copy. (`Docs/SwiftServers.md`)
struct KeyServiceSigner: MessageSigner {
    let publicKey: ContiguousArray<UInt8>
    let service: any KeyService

    func sign(_ messages: [ContiguousArray<UInt8>]) throws(SigningError) -> [ContiguousArray<UInt8>] {
        let (answer, answered) = (Answer(), DispatchSemaphore(value: 0))
        let asking = Task {
            answer.signatures = try? await signatures(of: messages)
            answered.signal()
        }
        guard answered.wait(timeout: .now() + .seconds(5)) == .success else {
            asking.cancel()
            throw SigningError(.signerTimedOut, "the key service did not answer in 5 seconds")
        }
        guard let signatures = answer.signatures else {
            throw SigningError(.signerRefused, "the key service did not sign: see its log")
        }
        return signatures
    }

    private func signatures(of messages: [ContiguousArray<UInt8>]) async throws -> [ContiguousArray<UInt8>] {
        try await withThrowingTaskGroup(of: (Int, Data).self) { group in
            for (index, message) in messages.enumerated() {
                group.addTask { (index, try await service.sign(Data(message))) }
            }
            var signatures = [ContiguousArray<UInt8>](repeating: [], count: messages.count)
            for try await (index, signature) in group { signatures[index] = ContiguousArray(signature) }
            return signatures
        }
    }

    /// Read only after the semaphore says that it was written.
    private final class Answer: @unchecked Sendable {
        var signatures: [ContiguousArray<UInt8>]?
    }
}
