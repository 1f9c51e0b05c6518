/// What was found, or what could not be tried.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) { description = what }
}
