public import Foundation

/// An action that a control runs.
@MainActor
open class UIAction: NSObject {
    /// The code.
    public typealias Handler = (UIAction) -> Void

    /// The title.
    open var title: String
    let handler: Handler

    /// Creates an action.
    public init(title: String = "", handler: @escaping Handler) {
        self.title = title
        self.handler = handler
        super.init()
    }
}

/// A view that the user can operate. It runs `UIAction`s: there are no selectors on Linux.
@MainActor
open class UIControl: UIView {
    /// The events of a control.
    public struct Event: OptionSet, Hashable, Sendable {
        /// The bits of the set.
        public let rawValue: UInt
        /// Creates a set from its bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A tap.
        public static let touchUpInside = Self(rawValue: 1 << 6)
        /// A change of its value.
        public static let valueChanged = Self(rawValue: 1 << 12)
        /// Its main event, for a button a tap.
        public static let primaryActionTriggered = Self(rawValue: 1 << 13)
    }

    /// The state of a control.
    public struct State: OptionSet, Hashable, Sendable {
        /// The bits of the set.
        public let rawValue: UInt
        /// Creates a set from its bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Normal.
        public static let normal = Self([])
        /// Disabled.
        public static let disabled = Self(rawValue: 1 << 1)
    }

    /// Whether the control is enabled.
    open var isEnabled = true
    private var actions: [(action: UIAction, events: Event)] = []

    /// Adds an action for these events.
    open func addAction(_ action: UIAction, for controlEvents: Event) { actions.append((action, controlEvents)) }

    /// Runs the actions for these events.
    open func sendActions(for controlEvents: Event) {
        for (action, events) in actions where !events.isDisjoint(with: controlEvents) { action.handler(action) }
    }
}

/// A button.
@MainActor
open class UIButton: UIControl {
    /// The type of a button.
    public enum ButtonType: Int, Sendable {
        /// Drawn by the app.
        case custom
        /// Drawn by the system.
        case system
    }

    /// The type of the button.
    public private(set) var buttonType = ButtonType.custom
    private var titles: [State: String] = [:]

    /// Creates a button.
    public convenience init(type: ButtonType) {
        self.init(frame: .zero)
        buttonType = type
    }

    /// Sets the title.
    open func setTitle(_ title: String?, for state: State) { titles[state] = title }

    /// Returns the title.
    open func title(for state: State) -> String? { titles[state] ?? titles[.normal] }
}
