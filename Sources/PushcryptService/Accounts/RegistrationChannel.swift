public import Foundation

/// The app's own way to its server, which authenticates both ends.
///
///     struct ServerChannel: RegistrationChannel {
///         func send(_ request: RegistrationRequest) async throws -> Data {
///             switch request.kind {
///             case .register(let account): try await server.post("push/device", request.body, as: account)
///             case .end: try await server.post("push/end", request.body)
///             }
///         }
///     }
public protocol RegistrationChannel: Sendable {
    /// Sends a request, and returns the body of the answer. Throws for any status but success.
    ///
    /// After a minute the request counts as lost, and this task is cancelled.
    func send(_ request: RegistrationRequest) async throws -> Data
}

/// A request from an app to its server. Requests of a paired account go to the address of its code, without the app.
public struct RegistrationRequest: Hashable, Sendable {
    /// The subject of a request.
    public enum Kind: Hashable, Sendable {
        /// The account's key on this phone. The app sends it in the session of this account, and throws if there is none: in
        /// another user's session it would register the account's key for that user.
        /// The answer is what `pushcrypt device add ID post.json --user USER --reply` prints.
        case register(account: String)
        /// The end of a device, whose user has logged out. It needs no session, because the device has signed it.
        /// The answer is what `pushcrypt device accept` prints.
        ///
        /// In an app for several servers `account` says which of them has the device.
        case end(account: String)
    }

    /// The subject of this request.
    public let kind: Kind
    /// The request as JSON: a signed record.
    public let body: Data

    init(_ kind: Kind, _ json: ContiguousArray<UInt8>) {
        self.kind = kind
        body = Data(json)
    }
}
