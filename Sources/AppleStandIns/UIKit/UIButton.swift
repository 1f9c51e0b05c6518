public import Foundation

/// Code that a control runs.
@MainActor
open class UIAction: NSObject {
    /// The code.
    public typealias Handler = (UIAction) -> Void

    /// The text that stands for it.
    public let title: String
    let handler: Handler

    /// Takes code.
    public init(title: String = "", handler: @escaping Handler) {
        self.title = title
        self.handler = handler
        super.init()
    }
}

/// A view that a person can use. It runs `UIAction`s: there are no selectors on Linux.
@MainActor
open class UIControl: UIView {
    /// What a person does to it.
    public struct Event: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Takes the bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// A tap.
        public static let touchUpInside = Self(rawValue: 1 << 6)
        /// A change of its value.
        public static let valueChanged = Self(rawValue: 1 << 12)
        /// Its main event: a tap on a button.
        public static let primaryActionTriggered = Self(rawValue: 1 << 13)
    }

    /// How it is at the moment.
    public struct State: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Takes the bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// As usual.
        public static let normal = Self([])
        /// Switched off.
        public static let disabled = Self(rawValue: 1 << 1)
    }

    /// Whether it can be used.
    open var isEnabled = true
    private var actions: [(action: UIAction, events: Event)] = []

    /// Runs an action on these events.
    open func addAction(_ action: UIAction, for controlEvents: Event) { actions.append((action, controlEvents)) }

    /// Runs the actions for these events.
    open func sendActions(for controlEvents: Event) {
        for (action, events) in actions where !events.isDisjoint(with: controlEvents) { action.handler(action) }
    }
}

/// A button.
@MainActor
open class UIButton: UIControl {
    /// How a button looks.
    public enum ButtonType: Int, Sendable {
        /// As the app draws it.
        case custom
        /// As the system draws it.
        case system
    }

    /// How it looks.
    public private(set) var buttonType = ButtonType.custom
    private var titles: [State: String] = [:]

    /// Makes a button.
    public convenience init(type: ButtonType) {
        self.init(frame: .zero)
        buttonType = type
    }

    /// Sets its text.
    open func setTitle(_ title: String?, for state: State) { titles[state] = title }

    /// Gives its text.
    open func title(for state: State) -> String? { titles[state] ?? titles[.normal] }
}
