// The operation table of this program runs on the CPU.
#include "operation_checks.h"

namespace ralimp::testing {

Device operation_device() { return {}; }

}  // namespace ralimp::testing
