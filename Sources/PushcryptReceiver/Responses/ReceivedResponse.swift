public import Pushcrypt
internal import PushcryptKeyStore

/// What a person did with a notification, with no more of that notification than is authentic.
public struct ReceivedResponse: Hashable, Sendable {
    /// Where custom keys and category come from.
    public enum Origin: Hashable, Sendable {
        /// The app or its service extension: of an opened notification, of a fallback, which has none, or of a local one.
        case app
        /// The sealed payload, opened for this response, because the extension never did.
        case opened
        /// A push that was never sealed, and that the app's policy lets pass.
        case passed
        /// Nowhere, because the push did not open, or was never sealed; there are none.
        case unknown(Delivery.Reason)
    }

    /// What was done. Of an unknown origin, the custom keys and the category are empty: whatever the person saw and meant,
    /// anybody on the way may have written it, so there is nothing to do but to show the app.
    public let value: NotificationResponseValue
    /// Where custom keys and category come from.
    public let origin: Origin
    /// When it was kept for later; nil when it comes at once. What was kept may come twice.
    public let keptAt: Timestamp?

    /// Puts the parts together.
    init(_ value: NotificationResponseValue, _ origin: Origin, keptAt: Timestamp?) {
        self.value = value
        self.origin = origin
        self.keptAt = keptAt
    }

    /// Whether the push did not open because the phone was not unlocked since it started.
    public var waitsForUnlock: Bool {
        guard case .unknown(let reason) = origin else { return false }
        return reason.code == KeyStoreError.Code.storeLocked.description
    }
}

extension NotificationResponseValue {
    /// The response, if its notification is the app's or its extension's own; nil for a push as it came.
    public var receivedIfAuthentic: ReceivedResponse? {
        source == .app ? ReceivedResponse(self, .app, keptAt: nil) : nil
    }

    /// Gives what is authentic of a response, and opens its push first if that was never done.
    ///
    /// A message that is opened here counts as shown from then on, under the same request. What the person did was an answer
    /// to the clear part, which the relay may have written: an action of a category, and a text, become a mere tap.
    ///
    /// - Parameters:
    ///   - receiver: opens the push; made only when there is one to open.
    ///   - now: the present time.
    ///   - mayPass: whether a push that was never sealed is taken as it is.
    ///   - keptAt: when the response was kept, if it was.
    public func received(
        by receiver: @autoclosure () -> NotificationReceiver, at now: Timestamp, mayPass: Bool = false,
        keptAt: Timestamp? = nil
    ) -> ReceivedResponse {
        switch source {
        case .app: return ReceivedResponse(self, .app, keptAt: keptAt)
        case .clear where mayPass: return ReceivedResponse(self, .passed, keptAt: keptAt)
        case .clear: return unknown(Delivery.Reason(.notEncrypted), keptAt)
        case .sealed:
            let delivery = receiver().receive(userInfo, requestID: requestIdentifier, at: now).delivery
            switch delivery.outcome {
            case .opened, .openedWithoutAttachment:
                var response = self
                // What the person saw, and what offered the action, was the clear part: nobody agreed to the sealed one.
                if case .custom = action { (response.action, response.userText) = (.open, nil) }
                response.userInfo = delivery.content.userInfo
                response.categoryIdentifier = delivery.content.categoryIdentifier
                return ReceivedResponse(response, .opened, keptAt: keptAt)
            case .fallback(let reason): return unknown(reason, keptAt)
            case .suppressed, .passed:
                return unknown(
                    Delivery.Reason(OpenError(.duplicate, "the message was already shown under another request")),
                    keptAt)
            }
        }
    }

    private func unknown(_ reason: Delivery.Reason, _ keptAt: Timestamp?) -> ReceivedResponse {
        var response = self
        response.userInfo = NotificationContent.emptyUserInfo
        response.categoryIdentifier = ""
        return ReceivedResponse(response, .unknown(reason), keptAt: keptAt)
    }
}
