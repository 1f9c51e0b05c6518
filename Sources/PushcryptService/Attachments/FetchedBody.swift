internal import Foundation
internal import Pushcrypt
internal import PushcryptKeyStore

/// A full body on its way from its file into the notification; the file goes as soon as it is read. Not run on Apple systems.
final class FetchedBody: Sendable {
    private final class State {
        var problem: String?
        var extend: (@Sendable (String) -> Void)?
    }

    private let state = Locked(State())

    /// Why the short body stays.
    var problem: String? { state.withLock { $0.problem } }

    /// Says where the text goes, before anything is fetched.
    func extend(_ extend: @escaping @Sendable (String) -> Void) { state.withLock { $0.extend = extend } }

    /// Takes what came of fetching it.
    func take(_ fetched: AttachmentFetch.Fetched) {
        do {
            let file = try fetched.get()
            defer { AttachmentFolder.remove(file) }
            let text = try FullBody.text(ContiguousArray(Data(contentsOf: file)))
            state.withLock { state in
                defer { state.extend = nil }
                return state.extend
            }?(text)
        } catch {
            let problem =
                switch error {
                case let error as AttachmentProblem: error.description
                case let error as AttachmentError: "\(error.code): \(error)"
                default: "its file cannot be read: \(type(of: error))"
                }
            state.withLock { $0.problem = problem }
        }
    }
}
