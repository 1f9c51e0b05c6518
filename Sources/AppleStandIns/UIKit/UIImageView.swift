public import Foundation

/// An image's bytes; they are not decoded.
open class UIImage: NSObject, @unchecked Sendable {
    /// The bytes; empty for a named image.
    package let data: Data
    /// The name of a named image.
    package let name: String?

    init(data: Data, name: String?) {
        self.data = data
        self.name = name
        super.init()
    }

    /// Creates an image from bytes. Returns nil if they are empty. Does not check that they are an image.
    public convenience init?(data: Data) {
        guard !data.isEmpty else { return nil }
        self.init(data: data, name: nil)
    }

    /// Reads an image from a file. Returns nil if it is unreadable or empty. Does not check that it is an image.
    public convenience init?(contentsOfFile path: String) {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        self.init(data: data)
    }

    /// Creates an image of the app by name. Does not check that it exists.
    public convenience init?(named name: String) { self.init(data: Data(), name: name) }
}

/// A view that shows an image.
@MainActor
open class UIImageView: UIView {
    /// The image.
    open var image: UIImage?

    /// Creates a view with an image.
    public init(image: UIImage?) {
        self.image = image
        super.init(frame: .zero)
    }

    /// Creates a view.
    public override init(frame: CGRect) { super.init(frame: frame) }

    /// Creates a view without an image. Reads nothing from the archive.
    public required init?(coder: NSCoder) { super.init(coder: coder) }
}
