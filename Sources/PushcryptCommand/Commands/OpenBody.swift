internal import Pushcrypt
internal import PushcryptCommandKit
internal import PushcryptReceiver

extension Option {
    static let fullBody = Option(
        "--full-body", "SEALED", .file,
        help:
            "the sealed file of a body that was too long for its push, fetched before; the short text is shown otherwise"
    )
}

extension Console {
    /// Puts the full body into a delivery, as a phone does that could fetch it: one that does not open is a warning, and the
    /// short text is shown.
    func extended(_ delivery: Delivery, _ invocation: Invocation) throws(CommandFailure) -> Delivery {
        guard let path = invocation.value("--full-body"), let opened = delivery.opened else {
            return delivery
        }
        let sealed = try read(path, limit: FullBody.maximumSealedSize)
        do throws(AttachmentError) {
            return delivery.extended(by: try opened.fullBody(opening: sealed.span))
        } catch {
            warning("full body: \(error.code): \(error)")
            return delivery
        }
    }
}
