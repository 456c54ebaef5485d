/* Says that it has nothing for this major version. */
#include "bad.h"
ENTRY(NULL)
