public import Foundation

/// A rule of layout. It is kept and never solved.
@MainActor
open class NSLayoutConstraint: NSObject {
    /// A direction.
    public enum Axis: Int, Sendable {
        /// A row.
        case horizontal
        /// A column.
        case vertical
    }

    /// Whether it counts.
    open var isActive = false
    /// The distance.
    open var constant: CGFloat

    init(constant: CGFloat) {
        self.constant = constant
        super.init()
    }

    /// Makes constraints count.
    open class func activate(_ constraints: [NSLayoutConstraint]) {
        for constraint in constraints { constraint.isActive = true }
    }
}

/// An edge, a middle or a size of a view.
@MainActor
open class NSLayoutAnchor<AnchorType: AnyObject>: NSObject {
    override init() { super.init() }

    /// Makes a rule: as the other, and so much more.
    open func constraint(equalTo anchor: NSLayoutAnchor<AnchorType>, constant: CGFloat = 0) -> NSLayoutConstraint {
        NSLayoutConstraint(constant: constant)
    }
}

/// A left or right edge, or a middle between them.
open class NSLayoutXAxisAnchor: NSLayoutAnchor<NSLayoutXAxisAnchor> {}
/// A top or bottom edge, or a middle between them.
open class NSLayoutYAxisAnchor: NSLayoutAnchor<NSLayoutYAxisAnchor> {}
/// A width or height.
open class NSLayoutDimension: NSLayoutAnchor<NSLayoutDimension> {
    /// Makes a rule: so much.
    open func constraint(equalToConstant constant: CGFloat) -> NSLayoutConstraint {
        NSLayoutConstraint(constant: constant)
    }
}

extension UIView {
    /// The edge where lines begin.
    public var leadingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    /// The edge where lines end.
    public var trailingAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    /// The middle between left and right.
    public var centerXAnchor: NSLayoutXAxisAnchor { NSLayoutXAxisAnchor() }
    /// The upper edge.
    public var topAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    /// The lower edge.
    public var bottomAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    /// The middle between top and bottom.
    public var centerYAnchor: NSLayoutYAxisAnchor { NSLayoutYAxisAnchor() }
    /// The width.
    public var widthAnchor: NSLayoutDimension { NSLayoutDimension() }
    /// The height.
    public var heightAnchor: NSLayoutDimension { NSLayoutDimension() }
}
