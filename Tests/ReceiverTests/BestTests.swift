import PushcryptReceiver
import Testing

/// No matter what happens to a push, in any order: it is given out once, with the right content, and nothing after it.
@Suite struct BestTests {
    private static let depth = 8

    /// The road of a push as the service extension runs it: where its thread waits is a place, and what has happened is
    /// either what it waits for, or another thread's.
    private struct Road: Hashable {
        private enum Place { case opening, files, changing, over }

        let kind: PushOracle.Kind
        private var place = Place.opening
        private var isLate = false
        private var best = Best<Int>()

        init(_ kind: PushOracle.Kind) { self.kind = kind }

        var isOver: Bool { best.isOver }

        /// Lets something happen, and returns what is given out.
        mutating func step(_ happening: Happening, content: Int) -> Due? {
            switch (place, happening) {
            case (_, .deadline): return end(.deadline)
            case (_, .expired): return end(.systemExpired)
            case (_, .released): return end(.abandoned)
            case (_, .attachmentDeadline):
                isLate = true
                return place == .files ? filesAreOver() : nil
            case (.opening, .failed): return end(PushOracle.failure)
            case (.opening, .decided):
                best.offer(.opened, content, .passed)
                return end(.deadline)
            case (.opening, .opened):
                best.offer(.opened, content, kind.hasAttachments ? .openedWithoutAttachment : .opened)
                guard kind.hasAttachments, !isLate else { return filesAreOver() }
                place = .files
            case (.files, .bodyDone): best.offer(.opened, content, .openedWithoutAttachment)
            case (.files, .attachmentDone), (.files, .attachmentFailed):
                best.offer(.files, content, happening == .attachmentDone ? .opened : .openedWithoutAttachment)
                return filesAreOver()
            case (.changing, .changed):
                if let shown = best.shown { best.offer(.changed, content, shown.outcome) }
                return end(.deadline)
            case (.changing, .changeFailed): return end(.deadline)
            default: break
            }
            return nil
        }

        private mutating func filesAreOver() -> Due? {
            place = kind.isChanged ? .changing : .over
            return kind.isChanged ? nil : end(.deadline)
        }

        private mutating func end(_ reason: Delivery.Reason) -> Due? {
            defer { if best.isOver { place = .over } }
            return best.take(reason).map { taken in
                switch taken {
                case .content(let content, let outcome): .content(content, outcome)
                case .fallback(let reason): .fallback(reason.code)
                }
            }
        }
    }

    private struct Side: Hashable {
        var road: Road
        var oracle: PushOracle
        var isEnded = false

        /// Returns what is wrong, or nil.
        mutating func step(_ happening: Happening, content: Int) -> String? {
            isEnded = isEnded || happening.isEnd
            let (wasOver, due) = (road.isOver, oracle.note(happening, content: content))
            let shown = road.step(happening, content: content)
            if shown != due { return "\(String(describing: shown)) instead of \(String(describing: due))" }
            if wasOver && shown != nil { return "it is given out twice" }
            return isEnded && !road.isOver ? "it is not given out" : nil
        }
    }

    /// Sequences that have led to equal roads that owe the same are followed as one, because they cannot differ any more.
    @Test(arguments: PushOracle.Kind.all)
    func inEverySequenceTheBestIsGivenOutOnce(_ kind: PushOracle.Kind) throws {
        let start = Side(road: Road(kind), oracle: PushOracle(kind))
        var frontier: [Side: (count: Int, path: [Happening])] = [start: (1, [])]
        for place in 1...Self.depth {
            var next: [Side: (count: Int, path: [Happening])] = [:]
            for (side, (count, path)) in frontier {
                for happening in Happening.allCases {
                    var side = side
                    if let fault = side.step(happening, content: place) {
                        Issue.record("\(path + [happening]): \(fault)")
                        return
                    }
                    next[side, default: (0, path + [happening])].count += count
                }
            }
            frontier = next
        }
        let covered = frontier.values.reduce(0) { $0 + $1.count }
        #expect(covered == (1...Self.depth).reduce(1) { product, _ in product * Happening.allCases.count })
    }

    /// Files that come after the app's change, and a body that comes after the files, change nothing.
    @Test func whatBettersLessIsNotTaken() {
        var best = Best<Int>()
        #expect(best.offer(.changed, 3, .opened) && !best.offer(.files, 2, .opened) && !best.offer(.opened, 1, .opened))
        #expect(best.shown?.content == 3)
        guard case .content(3, .opened)? = best.take(.deadline) else {
            Issue.record("another content")
            return
        }
        let again = best.take(.deadline)
        #expect(again == nil && !best.offer(.changed, 4, .opened))
    }
}
