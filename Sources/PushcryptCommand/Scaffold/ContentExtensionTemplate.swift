extension IOSScaffold {
    /// The one view controller of the content extension.
    var notificationViewController: ScaffoldFile {
        ScaffoldFile(
            path: "NotificationContent/NotificationViewController.swift",
            text: #"""
                import UIKit
                import UserNotifications
                import UserNotificationsUI

                /// The view of an expanded notification. It gets the opened content, and needs neither keys nor the network.
                final class NotificationViewController: UIViewController, UNNotificationContentExtension {
                    private let heading = UILabel()
                    private let text = UILabel()

                    override func viewDidLoad() {
                        super.viewDidLoad()
                        heading.font = .boldSystemFont(ofSize: 17)
                        for label in [heading, text] { label.numberOfLines = 0 }
                        let stack = UIStackView(arrangedSubviews: [heading, text])
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

                    /// Called again when another notification of the thread comes while the view is up.
                    func didReceive(_ notification: UNNotification) {
                        let content = notification.request.content
                        heading.text = content.title
                        text.text = content.body
                    }
                }

                """#)
    }
}
