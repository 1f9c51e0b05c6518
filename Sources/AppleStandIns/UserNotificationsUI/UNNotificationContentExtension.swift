public import Foundation
// Code that imports UserNotificationsUI gets UIKit's names with it, as on Apple platforms.
@_exported public import UIKit
public import UserNotifications

/// What becomes of the expanded notification after a response.
public enum UNNotificationContentExtensionResponseOption: UInt, Sendable {
    /// It stays.
    case doNotDismiss
    /// It goes.
    case dismiss
    /// It goes, and the app gets the response.
    case dismissAndForwardAction
}

/// Which media button the system draws.
public enum UNNotificationContentExtensionMediaPlayPauseButtonType: UInt, Sendable {
    /// None.
    case none
    /// One that is always seen.
    case `default`
    /// One over the media, which goes while they play.
    case overlay
}

/// The view controller of an expanded notification.
///
/// All but the first method are optional: one that is left out does here what the system does in its place. Where there are
/// two forms, an app has one of them; call the one with a handler, which calls the other if that is the one that is there.
@preconcurrency
public protocol UNNotificationContentExtension: NSObjectProtocol {
    /// Takes a notification; called again for another one of the same thread while the view is up.
    @MainActor
    func didReceive(_ notification: UNNotification)

    /// Takes a response, and must call the handler; if left out, the app gets the response.
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void)

    /// Takes a response; if left out, the app gets the response.
    func didReceive(_ response: UNNotificationResponse) async -> UNNotificationContentExtensionResponseOption

    /// Which media button the system draws; none, if left out.
    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { get }

    /// Where the media button is, in the view; nowhere, if left out.
    var mediaPlayPauseButtonFrame: CGRect { get }

    /// The media button's colour.
    var mediaPlayPauseButtonTintColor: UIColor { get }

    /// Starts the media.
    func mediaPlay()

    /// Stops the media.
    func mediaPause()
}

extension UNNotificationContentExtension {
    /// Leaves the response to the form without a handler.
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

    /// Lets the app have the response.
    public func didReceive(
        _ response: UNNotificationResponse
    ) async -> UNNotificationContentExtensionResponseOption { .dismissAndForwardAction }

    /// No media button.
    public var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { .none }
    /// Nowhere.
    public var mediaPlayPauseButtonFrame: CGRect { .zero }
    /// Blue here.
    public var mediaPlayPauseButtonTintColor: UIColor { .blue }
    /// Does nothing.
    public func mediaPlay() {}
    /// Does nothing.
    public func mediaPause() {}
}
