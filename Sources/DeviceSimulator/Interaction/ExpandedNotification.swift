#if os(Linux)
    internal import Foundation
    internal import PushcryptKeyStore
    public import UIKit
    public import UserNotifications
    public import UserNotificationsUI

    /// A notification that a person has opened up: the view of a content extension, or the system's own, with its actions.
    @MainActor
    public final class ExpandedNotification {
        /// What is on the screen at the moment; the newest notification that the view was given.
        public private(set) var identifier: String
        /// The content extension's view controller; nil if the system's own view is shown.
        public let viewController: (any UIViewController & UNNotificationContentExtension)?
        /// Whether the system's own title and text are seen.
        public let showsDefaultContent: Bool
        /// Whether it is still on the screen.
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

        /// The actions under it, which the extension may have changed.
        public var actions: [UNNotificationAction] { context.actions }

        /// Takes it from the screen.
        public func close() {
            guard isVisible else { return }
            isVisible = false
            device.inProcess {
                viewController?.viewWillDisappear(false)
                viewController?.viewDidDisappear(false)
            }
        }

        // MARK: Another notification

        /// Whether the view is told of a notification that comes now: same extension and same thread.
        func takes(_ content: UNNotificationContent) -> Bool {
            isVisible && viewController != nil && categories.contains(content.categoryIdentifier)
                && content.threadIdentifier == thread
        }

        func receive(_ notification: UNNotification) {
            identifier = notification.request.identifier
            device.inProcess { viewController?.didReceive(notification) }
        }

        // MARK: Media

        /// Which media button the system draws.
        public var mediaButton: UNNotificationContentExtensionMediaPlayPauseButtonType {
            viewController?.mediaPlayPauseButtonType ?? .none
        }

        /// Whether the extension has said that media play, so that the button pauses them.
        public var isMediaPlaying: Bool { context.isMediaPlaying }

        /// Presses the media button; tells whether there is one.
        @discardableResult
        public func pressMediaButton() -> Bool {
            guard isVisible, let viewController, mediaButton != .none else { return false }
            device.inProcess { isMediaPlaying ? viewController.mediaPause() : viewController.mediaPlay() }
            return true
        }

        // MARK: Responses

        /// Does what a person does: the content extension hears of an action first, and says whether the app hears of it too.
        public func respond(_ action: PersonAction) async -> ResponseOutcome {
            let isAction =
                switch action {
                case .choose, .write: true
                case .tap, .dismiss: false
                }
            // What cannot be sent to the app is not for the extension either.
            if isAction, case .success(let response) = device.response(action, to: identifier, among: actions),
                await !forwards(response)
            {
                return ResponseOutcome(unheard: .keptByContentExtension)
            }
            close()
            return await device.respond(action, to: identifier, among: UncheckedSendableBox(actions))
        }

        /// Does what the extension has asked the system for since: to open the app, or to close the view.
        ///
        /// Gives the app's answer if the app was opened.
        @discardableResult
        public func carryOutRequests() async -> ResponseOutcome? {
            let requests = context.requests
            context.requests = []
            if requests.contains(.defaultAction) { return await respond(.tap) }
            if requests.contains(.dismiss) { close() }
            return nil
        }

        /// Gives a response to the content extension; tells whether the app gets it too.
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

    /// What a content extension answers to a response; without an answer in time, the app gets the response.
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

    /// Points to what is on the screen without keeping it there.
    struct WeakExpanded: @unchecked Sendable {
        weak var value: ExpandedNotification?
    }

    extension SimulatedDevice {
        /// Opens up a notification in the list, as a long press does; nil if it is not there.
        ///
        /// A content extension that declares its category shows it, in a view controller of its own.
        @MainActor
        public func expand(_ identifier: String) -> ExpandedNotification? {
            guard let notification = center.deliveredNow.first(where: { $0.request.identifier == identifier }) else {
                return nil
            }
            let expanded = ExpandedNotification(notification, on: self)
            withState { $0.expanded = WeakExpanded(value: expanded) }
            return expanded
        }

        /// Tells the view on the screen of a notification that has come, if it belongs to it, and goes on.
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
