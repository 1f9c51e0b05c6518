import Foundation
import Pushcrypt
import PushcryptKeyStore
import TestPhone
import Waiting

@testable import PushcryptService

/// A provider's server, as an app reaches it.
final class TestServer: RegistrationChannel {
    struct Refused: Error {}

    private final class State {
        var devices: [(user: String, record: DeviceRegistration)] = []
        var requests = 0
        var fails = false
        var gate: Gate?
        var pushKeys: [String: SigningPublicKey] = [:]
        var gone: Set<String> = []
    }

    private let state = Locked(State())
    let key = ProviderKey()

    /// Whether every request ends with an error.
    var fails: Bool {
        get { state.withLock { $0.fails } }
        set { state.withLock { $0.fails = newValue } }
    }

    /// Where requests wait.
    var gate: Gate? {
        get { state.withLock { $0.gate } }
        set { state.withLock { $0.gate = newValue } }
    }

    /// The accounts whose servers do not answer withdrawals.
    var gone: Set<String> {
        get { state.withLock { $0.gone } }
        set { state.withLock { $0.gone = newValue } }
    }

    /// The push key that the server names to a user.
    func name(_ pushKey: SigningPublicKey?, to user: String) { state.withLock { $0.pushKeys[user] = pushKey } }

    /// The newest record of a user.
    func record(_ user: String) -> DeviceRegistration? {
        state.withLock { $0.devices.last { $0.user == user }?.record }
    }

    var requests: Int { state.withLock { $0.requests } }
    var users: [String] { state.withLock { $0.devices.map(\.user).sorted() } }

    func send(_ request: RegistrationRequest) async throws -> Data {
        let gate = state.withLock { state in
            state.requests += 1
            return state.gate
        }
        await gate?.waitUntilOpen()
        if fails { throw Refused() }
        switch request.kind {
        case .register(let account):
            let record = try DeviceRegistration(json: ContiguousArray(request.body))
            return Data(accept(record, of: account).json)
        case .withdraw(let account):
            if gone.contains(account) { throw Refused() }
            let fields = try JSONDecoder().decode([String: String].self, from: request.body)
            state.withLock { state in
                state.devices.removeAll {
                    $0.record.deviceID == fields["device"] && $0.record.withdrawal?.description == fields["withdrawal"]
                }
            }
            return Data()
        }
    }

    /// Stores a record that comes over this channel or another one.
    func accept(_ record: DeviceRegistration, of user: String) -> RegistrationReply {
        state.withLock { state in
            state.devices.removeAll { $0.record.deviceID == record.deviceID }
            state.devices.append((user, record))
            return RegistrationReply(
                .acknowledged(record.publicKey), provider: key.publicKey, certificate: nil,
                pushKey: state.pushKeys[user])
        }
    }

    /// A push to a user's device.
    func seal(
        _ text: String, to user: String, attachments: [AttachmentReference] = [], from: CommunicationSender? = nil
    ) throws -> ContiguousArray<UInt8> {
        guard let device = state.withLock({ $0.devices.last { $0.user == user }?.record }) else { throw Refused() }
        let payload = #"{"aps":{"alert":{"title":"Title","body":"\#(text)"}},"chat":"c41"}"#
        return try Sealer(provider: key, topic: TestPhone.topic).seal(
            payload.utf8, attachments: attachments, from: from, to: device.publicKey,
            at: Timestamp(milliseconds: 1_767_225_600_000)
        ).json
    }
}
