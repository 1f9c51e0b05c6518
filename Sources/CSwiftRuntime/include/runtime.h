// Nothing to call: runtime.c replaces functions that Swift's runtime calls.
#pragma once
