public import Foundation

/// A font, described by its size only.
open class UIFont: NSObject, @unchecked Sendable {
    /// The size in points.
    public let pointSize: CGFloat
    /// Whether it is bold.
    package let isBold: Bool

    init(pointSize: CGFloat, isBold: Bool) {
        self.pointSize = pointSize
        self.isBold = isBold
        super.init()
    }

    /// Returns the system font.
    open class func systemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(pointSize: fontSize, isBold: false) }

    /// Returns the bold system font.
    open class func boldSystemFont(ofSize fontSize: CGFloat) -> UIFont { UIFont(pointSize: fontSize, isBold: true) }
}

/// A view that shows text.
@MainActor
open class UILabel: UIView {
    /// The body.
    open var text: String?
    /// The font.
    open var font: UIFont! = .systemFont(ofSize: 17)
    /// The most lines; zero for no limit.
    open var numberOfLines = 1
}
