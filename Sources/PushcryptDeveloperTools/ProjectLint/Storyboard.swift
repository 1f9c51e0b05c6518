/// A storyboard, searched but not parsed: it is XML, in which every view controller is one element.
enum Storyboard {
    /// The number of view controllers, by the elements that Xcode writes for them.
    static func viewControllers(in source: ContiguousArray<UInt8>) -> Int {
        let text = String(decoding: source, as: UTF8.self)
        return kinds.map { kind in
            text.split(separator: "<").count { $0.hasPrefix(kind + " ") || $0.hasPrefix(kind + ">") }
        }.reduce(0, +)
    }

    private static let kinds = [
        "viewController", "tableViewController", "collectionViewController", "navigationController", "tabBarController",
        "splitViewController", "pageViewController", "glkViewController", "avPlayerViewController",
        "hostingController",
    ]
}
