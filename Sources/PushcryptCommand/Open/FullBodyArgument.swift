internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

/// `--full-body`: the sealed file of a body that was too long for its push.
struct FullBodyArgument: Sendable {
    private let path: String?

    var isGiven: Bool { path != nil }

    init(_ arguments: inout Arguments) {
        path = arguments.value(
            "--full-body", "SEALED", .file,
            help:
                "the fetched file of a body that was too long; otherwise the short text is shown")
    }

    /// Puts the full body into a delivery, as a phone does after fetching it. A file that does not open is a warning, and
    /// the short text is shown.
    func extend(_ delivery: Delivery, _ console: Console) throws(CommandFailure) -> Delivery {
        guard let path, let opened = delivery.opened else { return delivery }
        let sealed = try console.read(path, limit: FullBody.maximumSealedSize)
        do throws(AttachmentError) {
            return delivery.extended(by: try opened.fullBody(opening: sealed.span))
        } catch {
            console.warning("full body: \(error.code): \(error)")
            return delivery
        }
    }
}
