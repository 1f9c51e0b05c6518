public import Foundation

/// A rectangle on the screen. Nothing is drawn and nothing is laid out here.
@MainActor
open class UIView: UIResponder {
    /// How an image fills it.
    public enum ContentMode: Int, Sendable {
        /// Out of shape.
        case scaleToFill
        /// Whole, with space around it.
        case scaleAspectFit
        /// Cut off, without space.
        case scaleAspectFill
    }

    /// Where it is in its superview.
    open var frame: CGRect
    /// The colour behind it.
    open var backgroundColor: UIColor?
    /// The colour of what can be tapped in it.
    open var tintColor: UIColor! = .blue
    /// Whether it is left out.
    open var isHidden = false
    /// How opaque it is, from 0 to 1.
    open var alpha: CGFloat = 1
    /// How an image fills it.
    open var contentMode = ContentMode.scaleToFill
    /// Whether what sticks out is cut off.
    open var clipsToBounds = false
    /// A number to find it by.
    open var tag = 0
    /// Whether its old-style resizing becomes constraints.
    open var translatesAutoresizingMaskIntoConstraints = true
    /// The view that it is in; not kept alive.
    open private(set) weak var superview: UIView?
    /// The views in it, the lowest first.
    open private(set) var subviews: [UIView] = []

    /// Makes a view.
    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    /// Makes a view without size.
    public convenience override init() { self.init(frame: .zero) }

    /// Makes a view without size: nothing is read from an archive.
    public required init?(coder: NSCoder) {
        frame = .zero
        super.init()
    }

    /// Its rectangle in its own coordinates.
    open var bounds: CGRect {
        get { CGRect(origin: .zero, size: frame.size) }
        set { frame.size = newValue.size }
    }

    /// Puts a view in, on top.
    open func addSubview(_ view: UIView) {
        view.removeFromSuperview()
        view.superview = self
        subviews.append(view)
    }

    /// Takes it out of its superview.
    open func removeFromSuperview() {
        superview?.subviews.removeAll { $0 === self }
        superview = nil
    }

    /// Does nothing: nothing is laid out here.
    open func setNeedsLayout() {}

    /// Does nothing: nothing is laid out here.
    open func layoutIfNeeded() {}
}

/// The view that all others are in.
@MainActor
open class UIWindow: UIView {
    /// Whose view fills it.
    open var rootViewController: UIViewController?

    /// Shows it.
    open func makeKeyAndVisible() { isHidden = false }
}
