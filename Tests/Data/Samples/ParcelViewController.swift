import UIKit
import UserNotifications
import UserNotificationsUI

/// A content extension with labels, a picture, a button and media, created in code: Linux has neither storyboards nor
/// outlets.
class ParcelViewController: UIViewController, UNNotificationContentExtension {
    let headline = UILabel()
    let details = UILabel()
    let picture = UIImageView()
    let track = UIButton(type: .system)
    private(set) var shown = 0

    override func viewDidLoad() {
        super.viewDidLoad()
        headline.font = .boldSystemFont(ofSize: 20)
        details.numberOfLines = 0
        picture.contentMode = .scaleAspectFit
        track.setTitle("Track", for: .normal)
        track.addAction(
            UIAction { [weak self] _ in self?.extensionContext?.performNotificationDefaultAction() },
            for: .touchUpInside)
        let stack = UIStackView(arrangedSubviews: [headline, details, picture, track])
        stack.axis = .vertical
        stack.translatesAutoresizingMaskIntoConstraints = false
        view.addSubview(stack)
        NSLayoutConstraint.activate([
            stack.leadingAnchor.constraint(equalTo: view.leadingAnchor, constant: 16),
            stack.trailingAnchor.constraint(equalTo: view.trailingAnchor, constant: -16),
            stack.topAnchor.constraint(equalTo: view.topAnchor),
        ])
    }

    func didReceive(_ notification: UNNotification) {
        shown += 1
        let content = notification.request.content
        headline.text = content.title
        details.text = content.body
        if let attachment = content.attachments.first {
            picture.image = UIImage(contentsOfFile: attachment.url.path)
        }
        preferredContentSize = CGSize(width: view.frame.width, height: 200)
    }

    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    ) {
        if let text = response as? UNTextInputNotificationResponse {
            details.text = text.userText
            completion(.doNotDismiss)
        } else if response.actionIdentifier == "LATER" {
            completion(.dismiss)
        } else {
            completion(.dismissAndForwardAction)
        }
    }

    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { return .overlay }

    var mediaPlayPauseButtonFrame: CGRect {
        return CGRect(x: view.frame.width / 2 - 22, y: 100, width: 44, height: 44)
    }

    func mediaPlay() { extensionContext?.mediaPlayingStarted() }

    func mediaPause() { extensionContext?.mediaPlayingPaused() }
}

/// The smallest content extension, without any optional method.
class PlainViewController: UIViewController, UNNotificationContentExtension {
    func didReceive(_ notification: UNNotification) { title = notification.request.content.title }
}
