// Swift Testing has an overlay for files that import UIKit too, and the compiler looks for it wherever it finds both. On Apple
// platforms it attaches images to tests; here there is nothing to attach.
