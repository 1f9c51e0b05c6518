import Testing

@testable import PushcryptDeveloperTools

/// The Swift sources as `lint` reads them.
@Suite struct SwiftSourcesTests {
    private func sources(_ source: String) -> SwiftSources {
        var sources = SwiftSources()
        sources.add(ContiguousArray(source.utf8))
        return sources
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
        let sources = sources(source)
        #expect(sources.declared.contains("A"))
        #expect(sources.ancestors(of: "A").sorted() == ancestors)
    }

    @Test(
        "What is no class is none",
        arguments: [
            "", "class", "struct A {}", "extension A {}", "class func A() {}", "\"class A {}\"", "/* class A {}", "\\",
        ])
    func absent(source: String) {
        #expect(sources(source).declared.isEmpty)
    }

    @Test("The name for Objective-C is read")
    func objectiveC() {
        #expect(sources("@objc(Old) final class New: NSObject {}").objectiveCNames == ["Old"])
        #expect(sources("@objc class New {} ; func objc(a: Int) {}").objectiveCNames.isEmpty)
    }

    @Test(
        "A literal is read where the library takes a name, unless a condition or a variable decides",
        arguments: [
            (#"Topic("a")"#, ["a"]), (#"try Topic ( "a" ), Topic("b")"#, ["a", "b"]), (#"Topic(name)"#, []),
            (#"// Topic("a")"#, []), (#""Topic(\"a\")""#, []), (#"Topic("\(id).a")"#, []), (##"Topic(#"a"#)"##, []),
            ("#if DEBUG\nTopic(\"a\")\n#else\nTopic(\"b\")\n#endif\nTopic(\"c\")", ["c"]), ("Topic(\"a", ["a"]),
            ("Topic(", []),
        ])
    func topics(source: String, literals: [String]) {
        #expect(sources("import PushcryptApp\n" + source).topics.map(\.text) == literals)
        // Another library may have a type of this name.
        #expect(sources("import Topics\n" + source).topics.isEmpty)
    }

    @Test("Groups are read after their labels")
    func groups() {
        let found = sources(
            """
            import PushcryptApp
            f(appGroup: "a"); KeychainDeviceStore(accessGroup: "b"); AppGroup(identifier: "c"); Other(identifier: "d")
            Keychain(accessGroup: "e")
            """)
        #expect(found.appGroups.map(\.text) == ["a", "c"])
        #expect(found.accessGroups.map(\.text) == ["b"])
        #expect(found.words.contains("accessGroup"))
    }
}
