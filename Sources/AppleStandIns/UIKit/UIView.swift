public import Foundation

/// A rectangle on the screen. Nothing is drawn or laid out here.
@MainActor
open class UIView: UIResponder {
    /// The frame in the superview.
    open var frame: CGRect
    /// Whether the view is hidden.
    open var isHidden = false
    /// A number to find the view by.
    open var tag = 0
    /// Whether autoresizing becomes constraints.
    open var translatesAutoresizingMaskIntoConstraints = true
    /// The superview; a weak reference.
    open private(set) weak var superview: UIView?
    /// The subviews, bottom first.
    open private(set) var subviews: [UIView] = []

    /// Creates a view.
    public init(frame: CGRect) {
        self.frame = frame
        super.init()
    }

    /// Creates a view without a size.
    public convenience override init() { self.init(frame: .zero) }

    /// Creates a view without a size. Reads nothing from the archive.
    public required init?(coder: NSCoder) {
        frame = .zero
        super.init()
    }

    /// The bounds, in the view's own coordinates.
    open var bounds: CGRect {
        get { CGRect(origin: .zero, size: frame.size) }
        set { frame.size = newValue.size }
    }

    /// Adds a subview on top.
    open func addSubview(_ view: UIView) {
        view.removeFromSuperview()
        view.superview = self
        subviews.append(view)
    }

    /// Removes the view from its superview.
    open func removeFromSuperview() {
        superview?.subviews.removeAll { $0 === self }
        superview = nil
    }

    /// Returns the given size, because nothing is laid out.
    open func systemLayoutSizeFitting(_ targetSize: CGSize) -> CGSize { targetSize }
}
