public import PushcryptReceiver
public import UserNotifications

// The declared categories as the system has them. Not run on Apple systems.
extension CategorySet {
    /// Registers the categories, in place of all that were registered before.
    ///
    /// Call it at each launch, before the app's delegate has returned from it: a notification that comes earlier has no
    /// actions. Texts that are keys are looked up by the system when it shows them, in the language that the person has then.
    ///
    /// With `customDismissAction`, the app hears of a dismissal, as `NotificationResponseValue.Action.dismiss`, and is
    /// started for it in the background; without, never. While previews are hidden, the system shows
    /// `hiddenPreviewsBodyPlaceholder` in place of the body, also of a notification that was opened; the sealed payload
    /// names the category, so a notification that was not opened has neither this text nor the actions.
    public func register(on center: UNUserNotificationCenter = .current()) {
        center.setNotificationCategories(systemCategories)
    }

    /// The categories as the system has them; for an app that registers others besides.
    ///
    /// On macOS the texts for hidden previews and for summaries, and the options about them and about cars, are left out:
    /// the system has none of them.
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
