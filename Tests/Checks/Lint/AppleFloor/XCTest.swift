// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Stands in for XCTest while the floor check typechecks on Linux: the declarations that a scaffold's tests use.
public import Foundation

open class XCTestCase: NSObject {}
public func XCTUnwrap<T>(_ value: @autoclosure () throws -> T?) throws -> T { fatalError() }
public func XCTAssertEqual<T: Equatable>(_ a: @autoclosure () throws -> T, _ b: @autoclosure () throws -> T) {}
public func XCTAssertNotEqual<T: Equatable>(_ a: @autoclosure () throws -> T, _ b: @autoclosure () throws -> T) {}
public func XCTAssertFalse(_ value: @autoclosure () throws -> Bool) {}
public func XCTAssertNotNil(_ value: @autoclosure () throws -> Any?) {}
