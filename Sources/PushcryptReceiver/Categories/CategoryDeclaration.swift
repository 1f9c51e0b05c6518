/// A category of notifications and its actions; declared once, in Swift, or as JSON for tools.
///
/// The fields are those of `UNNotificationCategory`, with Apple's names in JSON. A sealed payload names the category in
/// `aps.category`; the system offers its actions after the notification has been opened.
public struct CategoryDeclaration: Hashable, Sendable {
    /// The options of a category.
    public enum Option: String, CaseIterable, Hashable, Sendable {
        /// Dismissals are reported to the app as a response; without it, the app never learns of them.
        case customDismissAction
        /// Notifications are shown in CarPlay.
        case allowInCarPlay
        /// The title is shown even if the user hides previews.
        case hiddenPreviewsShowTitle
        /// The subtitle is shown even if the user hides previews.
        case hiddenPreviewsShowSubtitle
    }

    /// The identifier in `aps.category`: 1 to 255 bytes without control characters; case-sensitive.
    public var identifier: String
    /// At most 10 actions, the most important first: the system shows fewer where there is little room.
    public var actions: [ActionDeclaration]
    /// The SiriKit intents that such a notification belongs to.
    public var intentIdentifiers: [String]
    /// The body shown while previews are hidden, even for an opened notification; `%u` is replaced by the number of
    /// notifications. nil: the system's text.
    public var hiddenPreviewsBodyPlaceholder: NotificationContent.Text?
    /// The summary of several notifications; `%u` is replaced by their number, `%@` by the summary argument. nil: the
    /// system's text.
    public var summaryFormat: NotificationContent.Text?
    /// The options of the category.
    public var options: Set<Option>

    /// Creates a category; `CategorySet` checks it.
    public init(
        _ identifier: String, actions: [ActionDeclaration] = [], intentIdentifiers: [String] = [],
        hiddenPreviewsBodyPlaceholder: NotificationContent.Text? = nil,
        summaryFormat: NotificationContent.Text? = nil, options: Set<Option> = []
    ) {
        self.identifier = identifier
        self.actions = actions
        self.intentIdentifiers = intentIdentifiers
        self.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder
        self.summaryFormat = summaryFormat
        self.options = options
    }
}

/// An action on a notification that does not require opening the app.
public struct ActionDeclaration: Hashable, Sendable {
    /// The options of an action.
    public enum Option: String, CaseIterable, Hashable, Sendable {
        /// The phone must be unlocked first; without it, the app runs while protected files are locked.
        case authenticationRequired
        /// The action is shown as destructive.
        case destructive
        /// The action brings the app to the foreground.
        case foreground
    }

    /// The icon beside the title.
    public enum Icon: Hashable, Sendable {
        /// The name of an SF Symbol.
        case system(String)
        /// The name of a template image of the app.
        case template(String)
    }

    /// The text field of an action.
    public struct TextInput: Hashable, Sendable {
        /// The title of the button that sends the text.
        public var buttonTitle: NotificationContent.Text
        /// The placeholder of the empty field.
        public var placeholder: NotificationContent.Text

        /// Creates a text field.
        public init(buttonTitle: NotificationContent.Text, placeholder: NotificationContent.Text = "") {
            self.buttonTitle = buttonTitle
            self.placeholder = placeholder
        }
    }

    /// The identifier in a response: 1 to 255 bytes without control characters, not one of Apple's, and unique in its
    /// category.
    public var identifier: String
    /// The title of the button.
    public var title: NotificationContent.Text
    /// The options of the action.
    public var options: Set<Option>
    /// The icon beside the title.
    public var icon: Icon?
    /// The text field, if the action has one.
    public var textInput: TextInput?

    /// Creates an action; the `CategorySet` of its category checks it.
    public init(
        _ identifier: String, title: NotificationContent.Text, options: Set<Option> = [], icon: Icon? = nil,
        textInput: TextInput? = nil
    ) {
        self.identifier = identifier
        self.title = title
        self.options = options
        self.icon = icon
        self.textInput = textInput
    }
}
