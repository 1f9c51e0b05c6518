// The compiler adds `import _Testing_UIKit` to a file that imports both Testing and UIKit: Testing says so on every platform,
// and brings the module on Apple's only. This module has that name and nothing in it.
