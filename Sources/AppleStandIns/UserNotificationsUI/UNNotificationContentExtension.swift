public import Foundation
// As on Apple platforms, importing UserNotificationsUI also imports UIKit's names.
@_exported public import UIKit
public import UserNotifications

/// The effect of a response on the expanded notification.
public enum UNNotificationContentExtensionResponseOption: UInt, Sendable {
    /// Keep it.
    case doNotDismiss
    /// Dismiss it.
    case dismiss
    /// Dismiss it and forward the response to the app.
    case dismissAndForwardAction
}

/// The media button that the system draws.
public enum UNNotificationContentExtensionMediaPlayPauseButtonType: UInt, Sendable {
    /// No button.
    case none
    /// A button that is always visible.
    case `default`
    /// A button over the media, hidden during playback.
    case overlay
}

/// The view controller of an expanded notification.
///
/// All methods but the first are optional: a missing one does what the system does without it. Where there are two
/// forms, an app has one of them. Call the form with a handler, which calls the async form if the app has that one.
@preconcurrency
public protocol UNNotificationContentExtension: NSObjectProtocol {
    /// Called with a notification, and again for each further one of the same thread while the view is visible.
    @MainActor
    func didReceive(_ notification: UNNotification)

    /// Called with a response. Must call the completion handler. Without this method the app gets the response.
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void)

    /// Called with a response. Without this method the app gets the response.
    func didReceive(_ response: UNNotificationResponse) async -> UNNotificationContentExtensionResponseOption

    /// The media button that the system draws; none by default.
    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { get }

    /// The frame of the media button in the view; empty by default.
    var mediaPlayPauseButtonFrame: CGRect { get }

    /// The media button's colour.
    var mediaPlayPauseButtonTintColor: UIColor { get }

    /// Called to start playback.
    func mediaPlay()

    /// Called to stop playback.
    func mediaPause()
}

extension UNNotificationContentExtension {
    /// Calls the async form.
    public func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void
    ) {
        let controller: any UNNotificationContentExtension = self
        let handed = Handed((controller, response))
        Task {
            let (controller, response) = handed.value
            completion(await controller.didReceive(response))
        }
    }

    /// Forwards the response to the app.
    public func didReceive(
        _ response: UNNotificationResponse
    ) async -> UNNotificationContentExtensionResponseOption { .dismissAndForwardAction }

    /// No media button.
    public var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { .none }
    /// An empty frame.
    public var mediaPlayPauseButtonFrame: CGRect { .zero }
    /// Blue.
    public var mediaPlayPauseButtonTintColor: UIColor { .blue }
    /// Does nothing.
    public func mediaPlay() {}
    /// Does nothing.
    public func mediaPause() {}
}
