// SQLite 3.36, which iOS 15.0 has, or later: the system's own package on Linux, the SDK's on Apple systems.
#include <sqlite3.h>
