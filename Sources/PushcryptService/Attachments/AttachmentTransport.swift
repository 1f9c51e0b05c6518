public import Foundation

/// Brings what lies at a URL; the seam between attachments and the network. Not run on Apple systems.
public protocol AttachmentTransport: Sendable {
    /// Starts a download, over https only, after every redirect too; it ends as soon as it is longer than `limit` bytes.
    ///
    /// The pieces, of any size, go to `receive`, one after the other, as long as it answers true. However the download ends,
    /// and when it is cancelled too, `finish` is called once, after the last piece; with nil when all of it was received.
    func download(
        _ url: URL, atMost limit: UInt64, receive: @escaping @Sendable (Data) -> Bool,
        finish: @escaping @Sendable (TransportFailure?) -> Void
    ) -> any AttachmentTransfer
}

/// A download that is under way.
public protocol AttachmentTransfer: Sendable {
    /// Ends it, if it has not ended.
    func cancel()
}

/// Why a download did not end well.
public struct TransportFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened; without the URL, because a URL can be a secret.
    public let description: String

    /// Takes what happened.
    public init(_ description: String) { self.description = description }

    static let insecure = TransportFailure("the url, or what it redirects to, is not https")
    static let tooManyRedirects = TransportFailure("the url redirects too often")
    static let tooLong = TransportFailure("the file is longer than its reference says")
    static let cancelled = TransportFailure("the download was stopped")
}
