#include "trainers/appended_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace ralimp {

bool write_text(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

AppendedFile::AppendedFile(std::string path)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0)
        fail_with(ExitCode::io, "{}: cannot be written: {}", path_, std::strerror(errno));
}

AppendedFile::~AppendedFile() { ::close(descriptor_); }

void AppendedFile::append(std::string_view text) {
    if (!write_text(descriptor_, text))
        fail_with(ExitCode::io, "{}: cannot be written: {}", path_, std::strerror(errno));
}

}  // namespace ralimp
