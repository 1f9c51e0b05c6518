public import PushcryptReceiver
public import UserNotifications

// Registers declared categories with the system. Not run on Apple systems.
extension CategorySet {
    /// Registers the categories, replacing all that were registered before.
    ///
    /// Call it at each launch, before the app delegate's launch method returns: an earlier notification has no actions.
    /// The system looks up texts that are keys when it shows them, in the user's language at that time.
    ///
    /// With `customDismissAction`, the app receives a dismissal as `NotificationResponseValue.Action.dismiss` and is
    /// started for it in the background; otherwise it never does. While previews are hidden, the system shows
    /// `hiddenPreviewsBodyPlaceholder` instead of the body, also of an opened notification. The sealed payload names
    /// the category, so a notification that was not opened has neither this text nor the actions.
    public func register(on center: UNUserNotificationCenter = .current()) {
        center.setNotificationCategories(systemCategories)
    }

    /// The categories as the system's objects, for an app that also registers others.
    ///
    /// On macOS the texts for hidden previews and summaries, and the options for these and for CarPlay, are left out:
    /// macOS does not support them.
    public var systemCategories: Set<UNNotificationCategory> { Set(categories.map(\.system)) }
}

extension CategoryDeclaration {
    fileprivate var system: UNNotificationCategory {
        let systemOptions = options.reduce(into: UNNotificationCategoryOptions()) { $0.formUnion($1.system) }
        #if os(macOS)
            return UNNotificationCategory(
                identifier: identifier, actions: actions.map(\.system), intentIdentifiers: intentIdentifiers,
                options: systemOptions)
        #else
            return UNNotificationCategory(
                identifier: identifier, actions: actions.map(\.system), intentIdentifiers: intentIdentifiers,
                hiddenPreviewsBodyPlaceholder: hiddenPreviewsBodyPlaceholder?.system,
                categorySummaryFormat: summaryFormat?.system, options: systemOptions)
        #endif
    }
}

extension CategoryDeclaration.Option {
    fileprivate var system: UNNotificationCategoryOptions {
        #if os(macOS)
            self == .customDismissAction ? .customDismissAction : []
        #else
            switch self {
            case .customDismissAction: .customDismissAction
            case .allowInCarPlay: .allowInCarPlay
            case .hiddenPreviewsShowTitle: .hiddenPreviewsShowTitle
            case .hiddenPreviewsShowSubtitle: .hiddenPreviewsShowSubtitle
            }
        #endif
    }
}

extension ActionDeclaration {
    fileprivate var system: UNNotificationAction {
        let systemOptions = options.reduce(into: UNNotificationActionOptions()) { $0.formUnion($1.system) }
        guard let textInput else {
            return UNNotificationAction(
                identifier: identifier, title: title.system, options: systemOptions, icon: icon?.system)
        }
        return UNTextInputNotificationAction(
            identifier: identifier, title: title.system, options: systemOptions, icon: icon?.system,
            textInputButtonTitle: textInput.buttonTitle.system, textInputPlaceholder: textInput.placeholder.system)
    }
}

extension ActionDeclaration.Option {
    fileprivate var system: UNNotificationActionOptions {
        switch self {
        case .authenticationRequired: .authenticationRequired
        case .destructive: .destructive
        case .foreground: .foreground
        }
    }
}

extension ActionDeclaration.Icon {
    fileprivate var system: UNNotificationActionIcon {
        switch self {
        case .system(let name): UNNotificationActionIcon(systemImageName: name)
        case .template(let name): UNNotificationActionIcon(templateImageName: name)
        }
    }
}
