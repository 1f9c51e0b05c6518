/// A kind of notification, and what a person can do with it; declared once, in Swift or as JSON for tools.
///
/// The fields are those of `UNNotificationCategory`, and the words in JSON are Apple's. A sealed payload names the category
/// in `aps.category`; the system offers its actions once the notification has been opened.
public struct CategoryDeclaration: Hashable, Sendable {
    /// What a category may be besides.
    public enum Option: String, CaseIterable, Hashable, Sendable {
        /// A dismissal is reported to the app as a response; without it the app never hears of one.
        case customDismissAction
        /// It is shown in a car.
        case allowInCarPlay
        /// The title is shown although the person hides previews.
        case hiddenPreviewsShowTitle
        /// The subtitle is shown although the person hides previews.
        case hiddenPreviewsShowSubtitle
    }

    /// What `aps.category` names: 1 to 255 bytes without control characters, compared with case.
    public var identifier: String
    /// At most 10, the most important first: the system shows fewer where there is little room.
    public var actions: [ActionDeclaration]
    /// The intents of SiriKit that such a notification belongs to.
    public var intentIdentifiers: [String]
    /// What the body says while previews are hidden, also of a notification that was opened; `%u` stands for the number
    /// of notifications. nil: the system's own words.
    public var hiddenPreviewsBodyPlaceholder: NotificationContent.Text?
    /// What a summary of several says; `%u` stands for their number, `%@` for the summary argument. nil: the system's own
    /// words.
    public var summaryFormat: NotificationContent.Text?
    /// What the category may be besides.
    public var options: Set<Option>

    /// Declares a category; a `CategorySet` checks it.
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

/// Something that a person can do with a notification without opening the app.
public struct ActionDeclaration: Hashable, Sendable {
    /// How the system treats an action.
    public enum Option: String, CaseIterable, Hashable, Sendable {
        /// The phone has to be unlocked first; without it, the app runs while protected files are locked.
        case authenticationRequired
        /// It is shown as one that destroys something.
        case destructive
        /// It brings the app to the front.
        case foreground
    }

    /// The picture beside the title.
    public enum Icon: Hashable, Sendable {
        /// The name of one of Apple's symbols.
        case system(String)
        /// The name of a template image of the app.
        case template(String)
    }

    /// What asks for a text.
    public struct TextInput: Hashable, Sendable {
        /// The title of the button that sends it.
        public var buttonTitle: NotificationContent.Text
        /// What stands in the field before anything is written.
        public var placeholder: NotificationContent.Text

        /// Declares a text field.
        public init(buttonTitle: NotificationContent.Text, placeholder: NotificationContent.Text = "") {
            self.buttonTitle = buttonTitle
            self.placeholder = placeholder
        }
    }

    /// What a response names: 1 to 255 bytes without control characters, none of Apple's, and unique in its category.
    public var identifier: String
    /// What the button says.
    public var title: NotificationContent.Text
    /// How the system treats it.
    public var options: Set<Option>
    /// The picture beside the title.
    public var icon: Icon?
    /// The text field, if the action asks for a text.
    public var textInput: TextInput?

    /// Declares an action; the `CategorySet` of its category checks it.
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
