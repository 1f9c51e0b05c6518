// nghttp2 1.43 or later, from the system's own package.
#pragma once
#include <nghttp2/nghttp2.h>
