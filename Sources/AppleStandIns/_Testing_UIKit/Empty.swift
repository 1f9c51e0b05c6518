// The compiler adds `import _Testing_UIKit` to a file that imports both Testing and UIKit. Testing declares this on
// every platform, but provides the module only on Apple platforms. This module is empty.
