// The floor check's own test: each of its two passes must refuse exactly the lines marked with its name, the compiler for their
// availability alone. A check that lets one pass, or refuses another line, is broken. No target holds this file.
import Synchronization  // refused: text

#if canImport(Foundation)
    import Foundation  // refused: text
#endif

func newerThanTheFloor(_ bytes: [UInt8], _ text: String) {
    _ = bytes.span  // refused: compiler
    _ = text.utf8.span  // refused: compiler, text
    _ = ContinuousClock.now  // refused: compiler
    _ = UTF8Span.self  // refused: compiler, text
    _ = InlineArray<4, UInt8>.self  // refused: compiler, text
    _ = Mutex<Int>.self  // refused: compiler, text
    _ = Atomic<Int>.self  // refused: compiler, text
    _ = "CREATE TABLE t (id INTEGER) STRICT"  // refused: text
    _ = "SELECT unixepoch()"  // refused: text
    _ = "SELECT t.a IS NOT DISTINCT FROM 1 FROM t"  // refused: text
    #if os(Linux)
        _ = sqlite3_changes64(nil)  // refused: text
        _ = sqlite3_db_name(nil, 0)  // refused: text
    #endif
}

func withinTheFloor(_ bytes: ContiguousArray<UInt8>, _ lent: Span<UInt8>) async -> Int {
    let span = bytes.span
    await Task.yield()
    return span.count + lent.count
}
