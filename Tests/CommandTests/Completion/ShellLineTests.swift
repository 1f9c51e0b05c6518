import Testing

@testable import PushcryptCommand
@testable import PushcryptCommandKit

/// A line at the prompt is split as the shell would split it, and never evaluated.
@Suite struct ShellLineTests {
    private func line(_ text: String, _ shell: Shell = .bash) -> ShellLine {
        ShellLine(text, of: shell, home: "/home/a")
    }

    @Test(
        "Words end at spaces that nothing quotes",
        arguments: [
            ("a b ", ["a", "b"], ""), ("a  b", ["a"], "b"), ("", [], ""), ("a\\ b c", ["a b"], "c"),
            ("'a b' c", ["a b"], "c"), ("\"a b\" c", ["a b"], "c"), ("a'b c'd e", ["ab cd"], "e"), ("'' a", [""], "a"),
            ("\"a\\\"b\\c\" d", ["a\"b\\c"], "d"), ("'a\\' b", ["a\\"], "b"), ("a 'b c", ["a"], "b c"),
            ("a \"b c", ["a"], "b c"), ("a b\\", ["a"], "b"), ("é 아이폰 x", ["é", "아이폰"], "x"), ("\\'a b", ["'a"], "b"),
        ])
    func words(text: String, words: [String], current: String) {
        let line = line(text)
        #expect(line.words.map(\.text) == words)
        #expect(line.current.text == current)
        #expect(!(line.words + [line.current]).map(\.isLiteral).contains(false))
    }

    @Test("In fish, single quotes have escapes", arguments: [("'a\\'b\\\\c\\d' e", "a'b\\c\\d")])
    func fish(text: String, first: String) {
        #expect(line(text, .fish).words.map(\.text) == [first])
    }

    @Test(
        "A word that only the shell knows is no literal",
        arguments: ["$a", "\"$a\"", "`a`", "\"`a`\"", "a*", "a?", "[a]", "{a,b}", "$(a)", "$'a'", "~b", "(a)"])
    func expansions(word: String) {
        #expect(line(word + " x").words.map(\.isLiteral) == [false])
        #expect(!line(word).current.isLiteral)
    }

    @Test(
        "Quoted, the same characters are themselves",
        arguments: ["'$a'", "'`a`'", "\\$a", "\"\\$a\"", "'*'", "\"*\"", "a~"])
    func quoted(word: String) {
        #expect(line(word + " x").words.map(\.isLiteral) == [true])
    }

    @Test(
        "A tilde is the home folder",
        arguments: [("~ ", "/home/a"), ("~/keys ", "/home/a/keys"), ("\\~/keys ", "~/keys")])
    func home(text: String, path: String) {
        #expect(line(text).words.map(\.text) == [path])
        #expect(line(text).words.map(\.isLiteral) == [true])
    }

    @Test(
        "Redirections are no words",
        arguments: [
            ("a < b c", ["a"], "c", false), ("a >", ["a"], "", true), ("a 2> b", ["a"], "b", true),
            ("a <b", ["a"], "b", true),
            ("a>b c ", ["a", "c"], "", false), ("a '>' b", ["a", ">"], "b", false), ("a >> b c", ["a"], "c", false),
            ("a &> b c", ["a"], "c", false),
        ])
    func redirection(text: String, words: [String], current: String, isRedirection: Bool) {
        let line = line(text)
        #expect(line.words.map(\.text) == words)
        #expect(line.current.text == current)
        #expect(line.isRedirection == isRedirection)
    }

    @Test(
        "The rest of a word is written so that the shell takes it for what it is",
        arguments: [
            ("ph", "phone1", "one1"), ("us", "user 17", "er\\ 17"), ("'us", "user 17", "er 17"),
            ("'it", "it's", "'\\''s"),
            ("\"it", "it's \"x\"", "'s \\\"x\\\""), ("it", "it's", "\\'s"),
            ("\"a", "a$(b)`c`\\!", "\\$(b)\\`c\\`\\\\\"'!'\""),
            ("a", "a$(b)`c`;&|<>*?!#~", "\\$\\(b\\)\\`c\\`\\;\\&\\|\\<\\>\\*\\?\\!\\#\\~"), ("a\\ ", "a bc", "bc"),
            ("", "é", "é"),
            ("e", "e\u{301}a", "\u{301}a"),
        ])
    func rest(typed: String, whole: String, rest: String) {
        #expect(line(typed).current.rest(of: whole) == rest)
    }

    @Test(
        "Another word has no rest, and neither has one that only the shell knows",
        arguments: ["phx", "$p", "\"`p", "PH"])
    func noRest(typed: String) {
        #expect(line(typed).current.rest(of: "phone1") == nil)
    }

    @Test(
        "What bash replaces begins behind an open quote, or a character that breaks words",
        arguments: [
            ("--to=ph", "ph"), ("'a b", "a b"), ("--to='a b", "a b"), ("a\\=b", "a\\=b"), ("'a=b'c", "'a=b'c"),
            ("x:y:z", "z"),
            ("", ""), ("plain", "plain"), ("\"a:b", "a:b"), ("--to=a\\ b", "a\\ b"),
        ])
    func replaced(typed: String, part: String) {
        #expect(String(line(typed).current.replaced(breaks: " \t\n\"'@><=;|&(:")) == part)
    }
}
