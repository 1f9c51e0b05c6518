// Declares nothing: linking the module is enough.
