// SQLite 3.37 or later, from the system's own package.
#include <sqlite3.h>
