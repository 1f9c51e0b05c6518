public import Foundation

/// A layout constraint. It is stored and never solved.
@MainActor
open class NSLayoutConstraint: NSObject {
    /// The axis of a layout.
    public enum Axis: Int, Sendable {
        /// A row.
        case horizontal
        /// A column.
        case vertical
    }

    /// Whether the constraint is active.
    open var isActive = false
    /// The constant of the constraint.
    open var constant: CGFloat

    init(constant: CGFloat) {
        self.constant = constant
        super.init()
    }

    /// Activates constraints.
    open class func activate(_ constraints: [NSLayoutConstraint]) {
        for constraint in constraints { constraint.isActive = true }
    }
}

/// An edge, a centre or a size of a view.
@MainActor
open class NSLayoutAnchor<AnchorType: AnyObject>: NSObject {
    override init() { super.init() }

    /// Creates a constraint: equal to the other anchor plus a constant.
    open func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant: CGFloat = 0) -> NSLayoutConstraint {
        NSLayoutConstraint(constant: constant)
    }
}

/// A left or right edge, or the centre between them.
open class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}
/// A top or bottom edge, or the centre between them.
open class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}

extension UIView {
    /// The leading edge.
    public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    /// The trailing edge.
    public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    /// The top edge.
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    /// The bottom edge.
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
}
