/// The best content for one push so far, given out once.
///
/// The push's thread, its downloads and the app's change offer content; the thread, a timer, the system or the handler's release
/// takes it. Behind a lock, exactly one `take` gets something.
package struct Best<Content> {
    /// The stages of the content, each better than the one before.
    package enum Stage: Int, CaseIterable, Sendable {
        /// It is opened; also with its full body.
        case opened = 1
        /// Its files are there.
        case files
        /// The app has changed it.
        case changed
    }

    private var stage = 0
    /// The best so far; nil while nothing may be shown.
    package private(set) var shown: Shown?
    /// Whether it was given out.
    package private(set) var isOver = false

    package init() {}

    package struct Shown {
        package let content: Content
        package let outcome: Delivery.Outcome
    }

    /// Offers something better. Returns false if it is too late, or not better.
    @discardableResult
    package mutating func offer(_ stage: Stage, _ content: Content, _ outcome: Delivery.Outcome) -> Bool {
        guard !isOver, stage.rawValue >= self.stage else { return false }
        (self.stage, shown) = (stage.rawValue, Shown(content: content, outcome: outcome))
        return true
    }

    /// Gives out the best there is; nil if that was done before. Without anything to show it is the fallback, for this
    /// reason.
    package mutating func take(_ reason: Delivery.Reason) -> Taken? {
        guard !isOver else { return nil }
        isOver = true
        defer { shown = nil }
        return shown.map { .content($0.content, $0.outcome) } ?? .fallback(reason)
    }

    /// The content given out, or the reason for the fallback.
    package enum Taken {
        case content(Content, Delivery.Outcome)
        case fallback(Delivery.Reason)
    }
}

/// Equal values answer equally to every call, so tests need to follow each only once.
extension Best: Equatable where Content: Equatable {}
extension Best.Shown: Equatable where Content: Equatable {}
extension Best.Taken: Equatable where Content: Equatable {}
extension Best: Hashable where Content: Hashable {}
extension Best.Shown: Hashable where Content: Hashable {}
