import Foundation
import PushcryptApp

nonisolated struct PushChannel: RegistrationChannel {
    func send(_ request: RegistrationRequest) async throws -> Data {
        switch request.kind {
        case .register(let account): try await API.post("push/device", request.body, as: account)
        case .end: try await API.post("push/end", request.body, as: nil)
        }
    }
}

nonisolated enum Push {
    static let accounts = PushAccounts(trust: .firstReply, channel: PushChannel())
}
