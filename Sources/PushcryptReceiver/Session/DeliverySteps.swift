/// What a session asks for; every closure may be called on any thread, and none under the session's lock.
///
/// They may call the session back before they return. Content that they are given is theirs: to change it changes no
/// delivery.
public struct DeliverySteps<Content> {
    /// Opens the push; ends in `opened`, `decided` or `failed`.
    public var open: () -> Void
    /// Fetches attachments, or a full body, for this content; ends in `attached`, perhaps after `extended`.
    public var attach: (Content) -> Void
    /// Stops fetching, and removes what is there; may be called while `attach` still runs, and once more after it.
    public var stopAttaching: () -> Void
    /// Lets the app change this content; ends in `changed` or `changeFailed`.
    public var change: (Content) -> Void
    /// Makes the fallback.
    public var fallback: (Delivery.Reason) -> Content
    /// Shows this, once and for all.
    public var deliver: (Content, DeliveryOutcome) -> Void

    /// Takes the closures; a push that is neither attached to nor changed needs the first and the last two.
    public init(
        open: @escaping () -> Void, attach: @escaping (Content) -> Void = { _ in },
        stopAttaching: @escaping () -> Void = {}, change: @escaping (Content) -> Void = { _ in },
        fallback: @escaping (Delivery.Reason) -> Content, deliver: @escaping (Content, DeliveryOutcome) -> Void
    ) {
        self.open = open
        self.attach = attach
        self.stopAttaching = stopAttaching
        self.change = change
        self.fallback = fallback
        self.deliver = deliver
    }
}
