import Testing

@testable import PushcryptDeveloperTools

/// The Swift sources as `lint` reads them.
@Suite struct SwiftClassesTests {
    private func classes(_ source: String) -> SwiftClasses {
        var classes = SwiftClasses()
        classes.add(ContiguousArray(source.utf8))
        return classes
    }

    @Test(
        "A class is found with what stands behind its colon",
        arguments: [
            ("class A: B {}", ["B"]), ("final public class A : B , C { }", ["B", "C"]), ("class A {}", []),
            ("class A:\n    Module.B,\n    @unchecked Sendable\n{", ["B", "Sendable"]),
            ("class A<T: Sendable>: B where T: C {}", ["B"]), ("class A: B {} ; class B: C {}", ["B", "C"]),
            ("class A {} ; extension A: P {}", ["P"]), ("struct S { class func f() {} } ; class A: B {}", ["B"]),
            ("class A: A {}", ["A"]), ("class A: B {} ; class B: A {}", ["A", "B"]),
            ("/* class A: X {} /* nested */ */ class A: B {}", ["B"]), ("// class A: X {}\nclass A: B {}", ["B"]),
            (#"let s = "class A: X {}" ; class A: B {}"#, ["B"]),
            (#"let s = "a \" class A: X {}" ; class A: B {}"#, ["B"]),
            ("let s = \"\"\"\nclass A: X {}\n\"\"\"\nclass A: B {}", ["B"]),
            ("let s = \"unfinished\nclass A: B {}", ["B"]), ("class A: B", ["B"]),
        ])
    func found(source: String, ancestors: [String]) {
        let classes = classes(source)
        #expect(classes.declared.contains("A"))
        #expect(classes.ancestors(of: "A").sorted() == ancestors)
    }

    @Test(
        "What is no class is none",
        arguments: [
            "", "class", "struct A {}", "extension A {}", "class func A() {}", "\"class A {}\"", "/* class A {}", "\\",
        ])
    func absent(source: String) {
        #expect(classes(source).declared.isEmpty)
    }

    @Test("The name for Objective-C is read")
    func objectiveC() {
        #expect(classes("@objc(Old) final class New: NSObject {}").objectiveCNames == ["Old"])
        #expect(classes("@objc class New {} ; func objc(a: Int) {}").objectiveCNames.isEmpty)
    }

    @Test(
        "Versions compare number by number",
        arguments: [("9.3", "15.0"), ("14.8.1", "15"), ("15.0", "15.0.1"), ("15.9", "15.10")])
    func versions(lower: String, higher: String) throws {
        let (a, b) = (try #require(Version(lower)), try #require(Version(higher)))
        #expect(a < b && !(b < a) && a != b)
        #expect(Version("15") == Version("15.0.0"))
        for text in ["", "15.", "$(VERSION)", "-1", "15.a", "99999999999"] { #expect(Version(text) == nil) }
    }
}
