public import Foundation

/// A row or a column of views.
@MainActor
open class UIStackView: UIView {
    /// The alignment of views across the axis.
    public enum Alignment: Int, Sendable {
        /// Filling the stack.
        case fill
        /// Leading.
        case leading
        /// Centred.
        case center = 3
        /// Trailing.
        case trailing
    }

    /// The arranged views, in order.
    open private(set) var arrangedSubviews: [UIView] = []
    /// The axis.
    open var axis = NSLayoutConstraint.Axis.horizontal
    /// The alignment of views across the axis.
    open var alignment = Alignment.fill
    /// The space between views.
    open var spacing: CGFloat = 0

    /// Creates a stack of views.
    public convenience init(arrangedSubviews views: [UIView]) {
        self.init(frame: .zero)
        for view in views { addArrangedSubview(view) }
    }

    /// Adds a view at the end.
    open func addArrangedSubview(_ view: UIView) {
        arrangedSubviews.append(view)
        addSubview(view)
    }
}
