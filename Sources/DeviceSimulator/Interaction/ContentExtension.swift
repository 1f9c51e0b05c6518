#if os(Linux)
    public import UIKit
    public import UserNotificationsUI

    /// A content extension of the app: what its property list declares, and its view controller.
    public struct ContentExtension: Sendable {
        /// `UNNotificationExtensionCategory`.
        public var categories: Set<String>
        /// `UNNotificationExtensionDefaultContentHidden`: the system's own title and text are left out.
        public var isDefaultContentHidden = false
        /// `UNNotificationExtensionInitialContentSizeRatio`: the height of the view, by its width.
        public var initialContentSizeRatio = 1.0
        let makeViewController: @MainActor @Sendable () -> any UIViewController & UNNotificationContentExtension

        /// Takes the declared categories and the one view controller.
        public init(
            categories: Set<String>,
            viewController: @escaping @MainActor @Sendable () -> any UIViewController & UNNotificationContentExtension
        ) {
            self.categories = categories
            makeViewController = viewController
        }
    }

    /// Two content extensions of an app declare the same categories: the system would show either.
    public struct CategoryConflict: Error, Hashable, CustomStringConvertible {
        /// The categories that both declare.
        public let categories: Set<String>

        /// What happened, and what to do.
        public var description: String {
            "two content extensions declare \(categories.sorted().joined(separator: ", ")); give each category to one"
        }
    }

    extension SimulatedDevice {
        /// Adds a content extension of the app. Throws `CategoryConflict` if another declares one of its categories.
        public func install(_ contentExtension: ContentExtension) throws(CategoryConflict) {
            let taken = withState { state in
                let taken = Set(state.contentExtensions.flatMap(\.categories)).intersection(contentExtension.categories)
                if taken.isEmpty { state.contentExtensions.append(contentExtension) }
                return taken
            }
            guard taken.isEmpty else { throw CategoryConflict(categories: taken) }
        }

        /// The content extension for a category; capitals count.
        func contentExtension(for category: String) -> ContentExtension? {
            withState { $0.contentExtensions.first { $0.categories.contains(category) } }
        }
    }
#endif
