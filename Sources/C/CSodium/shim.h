// libsodium 1.0.18 or later, from the system's own package.
#include <sodium.h>
