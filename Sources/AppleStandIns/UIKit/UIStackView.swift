public import Foundation

/// A row or a column of views.
@MainActor
open class UIStackView: UIView {
    /// How views are placed across it.
    public enum Alignment: Int, Sendable {
        /// From side to side.
        case fill
        /// At the leading side.
        case leading
        /// In the middle.
        case center = 3
        /// At the trailing side.
        case trailing
    }

    /// The views in it, in order.
    open private(set) var arrangedSubviews: [UIView] = []
    /// Whether it is a row or a column.
    open var axis = NSLayoutConstraint.Axis.horizontal
    /// How views are placed across it.
    open var alignment = Alignment.fill
    /// The space between views.
    open var spacing: CGFloat = 0

    /// Takes views.
    public convenience init(arrangedSubviews views: [UIView]) {
        self.init(frame: .zero)
        for view in views { addArrangedSubview(view) }
    }

    /// Puts a view at the end.
    open func addArrangedSubview(_ view: UIView) {
        arrangedSubviews.append(view)
        addSubview(view)
    }
}
