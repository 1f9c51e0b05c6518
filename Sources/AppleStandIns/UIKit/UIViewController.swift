public import Foundation

/// The connection of an extension to the system. On Apple platforms it is in Foundation.
open class NSExtensionContext: NSObject {
    package override init() { super.init() }
}

/// An object that loads and manages a view.
@MainActor
open class UIViewController: UIResponder {
    /// The title.
    open var title: String?
    /// The preferred size.
    open var preferredContentSize = CGSize.zero
    /// The context of an extension; nil in an app. Set by the simulated system.
    open package(set) var extensionContext: NSExtensionContext?
    private var loadedView: UIView?

    /// Creates a controller. There are no nib files here.
    public init(nibName nibNameOrNil: String?, bundle nibBundleOrNil: Bundle?) { super.init() }

    /// Creates a controller.
    public convenience override init() { self.init(nibName: nil, bundle: nil) }

    /// Creates a controller. Reads nothing from the archive.
    public required init?(coder: NSCoder) { super.init() }

    /// The view, loaded on first use.
    open var view: UIView! {
        get {
            loadViewIfNeeded()
            return loadedView
        }
        set { loadedView = newValue }
    }

    /// Creates an empty view.
    open func loadView() { view = UIView(frame: CGRect(x: 0, y: 0, width: 320, height: 480)) }

    /// Loads the view, if necessary, and then calls `viewDidLoad`.
    open func loadViewIfNeeded() {
        guard loadedView == nil else { return }
        loadView()
        viewDidLoad()
    }

    /// Called when the view is loaded.
    open func viewDidLoad() {}
    /// Called before the view appears.
    open func viewWillAppear(_ animated: Bool) {}
    /// Called when the view has appeared.
    open func viewDidAppear(_ animated: Bool) {}
    /// Called before the view disappears.
    open func viewWillDisappear(_ animated: Bool) {}
    /// Called when the view has disappeared.
    open func viewDidDisappear(_ animated: Bool) {}
}
