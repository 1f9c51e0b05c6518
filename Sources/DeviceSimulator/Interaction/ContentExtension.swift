#if os(Linux)
    internal import Foundation
    internal import PushcryptKeyStore
    public import UIKit
    public import UserNotifications
    public import UserNotificationsUI

    /// A content extension of the app: the declarations of its property list, and its view controller.
    public struct ContentExtension: Sendable {
        /// `UNNotificationExtensionCategory`.
        public var categories: Set<String>
        /// `UNNotificationExtensionDefaultContentHidden`: whether the system's own title and text are hidden.
        public var isDefaultContentHidden = false
        /// `UNNotificationExtensionInitialContentSizeRatio`: the height of the view, divided by its width.
        public var initialContentSizeRatio = 1.0
        let makeViewController: @MainActor @Sendable () -> any UIViewController & UNNotificationContentExtension

        /// Creates a content extension.
        ///
        /// - Parameters:
        ///   - categories: The declared categories.
        ///   - viewController: Creates the view controller.
        public init(
            categories: Set<String>,
            viewController: @escaping @MainActor @Sendable () -> any UIViewController & UNNotificationContentExtension
        ) {
            self.categories = categories
            makeViewController = viewController
        }
    }

    /// The error for two content extensions that declare the same categories: the system could show either.
    public struct CategoryConflict: Error, Hashable, CustomStringConvertible {
        /// The categories that both extensions declare.
        public let categories: Set<String>

        /// The problem and how to fix it.
        public var description: String {
            "two content extensions declare \(categories.sorted().joined(separator: ", ")); declare each category in only one"
        }
    }

    extension SimulatedDevice {
        /// Adds a content extension of the app.
        ///
        /// - Throws: `CategoryConflict` if another extension declares one of its categories.
        public func install(_ contentExtension: ContentExtension) throws(CategoryConflict) {
            let taken = withState { state in
                let taken = Set(state.contentExtensions.flatMap(\.categories)).intersection(contentExtension.categories)
                if taken.isEmpty { state.contentExtensions.append(contentExtension) }
                return taken
            }
            guard taken.isEmpty else { throw CategoryConflict(categories: taken) }
        }

        /// Returns the content extension for a category. Identifiers are case-sensitive.
        func contentExtension(for category: String) -> ContentExtension? {
            withState { $0.contentExtensions.first { $0.categories.contains(category) } }
        }
    }

    /// A notification that the user expanded: the view of a content extension, or the system's own, with its actions.
    @MainActor
    public final class ExpandedNotification {
        /// The identifier of the newest notification in the view.
        public private(set) var identifier: String
        /// The content extension's view controller; nil if the system's own view is shown.
        public let viewController: (any UIViewController & UNNotificationContentExtension)?
        /// Whether the system's own title and text are visible.
        public let showsDefaultContent: Bool
        /// Whether it is still visible.
        public private(set) var isVisible = true
        private let device: SimulatedDevice
        private let context: NotificationExtensionContext
        private let thread: String
        private let categories: Set<String>

        init(_ notification: UNNotification, on device: SimulatedDevice) {
            let content = notification.request.content
            let declared = device.contentExtension(for: content.categoryIdentifier)
            self.device = device
            identifier = notification.request.identifier
            thread = content.threadIdentifier
            categories = declared?.categories ?? []
            context = NotificationExtensionContext(actions: device.category(of: content)?.actions ?? [])
            showsDefaultContent = declared?.isDefaultContentHidden != true
            viewController = declared.map { declared in device.inProcess { declared.makeViewController() } }
            guard let viewController, let declared else { return }
            device.inProcess {
                viewController.extensionContext = context
                viewController.view.frame.size.height =
                    viewController.view.frame.width * declared.initialContentSizeRatio
                viewController.didReceive(notification)
                viewController.viewWillAppear(false)
                viewController.viewDidAppear(false)
            }
        }

        /// The current actions, which the extension may have changed.
        public var actions: [UNNotificationAction] { context.actions }

        /// Closes the view.
        public func close() {
            guard isVisible else { return }
            isVisible = false
            device.inProcess {
                viewController?.viewWillDisappear(false)
                viewController?.viewDidDisappear(false)
            }
        }

        // MARK: Further notifications

        /// Whether a new notification belongs to the view: it has the same extension and thread.
        func takes(_ content: UNNotificationContent) -> Bool {
            isVisible && viewController != nil && categories.contains(content.categoryIdentifier)
                && content.threadIdentifier == thread
        }

        func receive(_ notification: UNNotification) {
            identifier = notification.request.identifier
            device.inProcess { viewController?.didReceive(notification) }
        }

        // MARK: Media

        /// The media button that the system draws.
        public var mediaButton: UNNotificationContentExtensionMediaPlayPauseButtonType {
            viewController?.mediaPlayPauseButtonType ?? .none
        }

        /// Whether the extension reported that media is playing, so that the button pauses it.
        public var isMediaPlaying: Bool { context.isMediaPlaying }

        /// Presses the media button.
        ///
        /// - Returns: Whether there is a media button.
        @discardableResult
        public func pressMediaButton() -> Bool {
            guard isVisible, let viewController, mediaButton != .none else { return false }
            device.inProcess { isMediaPlaying ? viewController.mediaPause() : viewController.mediaPlay() }
            return true
        }

        // MARK: Responses

        /// Performs a user's action. The content extension gets an action first and decides whether to forward it to
        /// the app.
        public func respond(_ action: UserAction) async -> ResponseOutcome {
            let isAction =
                switch action {
                case .choose, .write: true
                case .tap, .dismiss: false
                }
            // The extension does not get a response that the app cannot get.
            if isAction, case .success(let response) = device.response(action, to: identifier, among: actions),
                await !forwards(response)
            {
                return ResponseOutcome(undelivered: .keptByContentExtension)
            }
            close()
            return await device.respond(action, to: identifier, among: UncheckedSendableBox(actions))
        }

        /// Carries out the extension's requests to the system: to open the app or to close the view.
        ///
        /// - Returns: The outcome in the app, if it was opened.
        @discardableResult
        public func carryOutRequests() async -> ResponseOutcome? {
            let requests = context.requests
            context.requests = []
            if requests.contains(.defaultAction) { return await respond(.tap) }
            if requests.contains(.dismiss) { close() }
            return nil
        }

        /// Passes a response to the content extension. Returns whether to forward it to the app.
        private func forwards(_ response: UNNotificationResponse) async -> Bool {
            guard let viewController else { return true }
            let answer = ExtensionAnswer()
            device.inProcess {
                viewController.didReceive(response) { answer.complete($0) }
            }
            let option = await answer.option(clock: device.clock, limit: device.limits.app)
            if option == .dismiss { close() }
            return option == .dismissAndForwardAction
        }
    }

    /// A content extension's answer to a response. Without an answer in time, the app gets the response.
    private final class ExtensionAnswer: @unchecked Sendable {
        private let completion = Completion()
        private let lock = NSLock()
        private var first: UNNotificationContentExtensionResponseOption?

        func complete(_ option: UNNotificationContentExtensionResponseOption) {
            lock.withLock { first = first ?? option }
            completion.complete()
            completion.didReturn()
        }

        func option(clock: DeviceClock, limit: UInt64) async -> UNNotificationContentExtensionResponseOption {
            await completion.wait(clock: clock, limit: limit)
            return lock.withLock { first } ?? .dismissAndForwardAction
        }
    }

    /// A weak reference to the expanded notification.
    struct WeakExpanded: @unchecked Sendable {
        weak var value: ExpandedNotification?
    }

    extension SimulatedDevice {
        /// Expands a notification in the list, as a long press does. Returns nil if it is not in the list.
        ///
        /// A content extension that declares its category shows it, in a new view controller.
        @MainActor
        public func expand(_ identifier: String) -> ExpandedNotification? {
            guard let notification = center.deliveredNow.first(where: { $0.request.identifier == identifier }) else {
                return nil
            }
            let expanded = ExpandedNotification(notification, on: self)
            withState { $0.expanded = WeakExpanded(value: expanded) }
            return expanded
        }

        /// Passes a new notification to the visible view, if it belongs to it, then calls `then`.
        func updateExpanded(
            _ identifier: String, _ content: UNNotificationContent, then: @escaping @Sendable () -> Void
        ) {
            guard let expanded = withState({ $0.expanded?.value }) else { return then() }
            let notification = UncheckedSendableBox(
                UNNotification(date: clock.date, request: request(identifier, content)))
            DispatchQueue.main.async {
                if expanded.takes(notification.value.request.content) { expanded.receive(notification.value) }
                then()
            }
        }
    }
#endif
