import Foundation
import PushcryptApp
import UIKit
import UserNotifications
import UserNotificationsUI

extension FallbackTexts {
    /// Localised immediately; the system localises the keys of a notification when it shows it.
    fileprivate static var shownInView: FallbackTexts {
        let encrypted = NSLocalizedString("(Encrypted)", comment: "not opened, or not encrypted")
        return FallbackTexts(couldNotOpen: .plain(encrypted), notEncrypted: .plain(encrypted))
    }
}

/// The view of an expanded notification. It receives the opened content, and needs neither keys nor the network.
final class NotificationViewController: UIViewController, @preconcurrency UNNotificationContentExtension {
    private let session = ContentExtensionSession(texts: .shownInView)
    private let heading = UILabel()
    private let subheading = UILabel()
    private let text = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        heading.font = .boldSystemFont(ofSize: 17)
        let labels = [heading, subheading, text]
        for label in labels { label.numberOfLines = 0 }
        let stack = UIStackView(arrangedSubviews: labels)
        stack.axis = .vertical
        stack.spacing = 8
        stack.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(stack)
        NSLayoutConstraint.activate([
            stack.leadingAnchor.constraint(equalTo: view.leadingAnchor, constant: 16),
            stack.trailingAnchor.constraint(equalTo: view.trailingAnchor, constant: -16),
            stack.topAnchor.constraint(equalTo: view.topAnchor, constant: 16),
            stack.bottomAnchor.constraint(equalTo: view.bottomAnchor, constant: -16),
        ])
    }

    /// Called again for another notification of the thread while the view is visible.
    func didReceive(_ notification: UNNotification) {
        session.receive(notification)
        // For a push that was not opened, these are the texts of the fallback.
        guard let shown = session.notifications.last else { return }
        heading.text = shown.title
        subheading.text = shown.subtitle
        text.text = shown.body
        // The height of the texts, at the width that the system gives.
        preferredContentSize = view.systemLayoutSizeFitting(CGSize(width: view.bounds.width, height: 0))
    }

    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping @Sendable (UNNotificationContentExtensionResponseOption) -> Void
    ) {
        session.answer(response) {
            completion(.init(rawValue: $0.rawValue) ?? .dismissAndForwardAction)
        } by: { _ in
            // EDIT: the actions that the view handles; the app receives all others.
            .dismissAndForward
        }
    }
}
