// A text file that grows line by line and can be read meanwhile. For files written at once use
// write_file of core/file.h.
#pragma once
#include <string>
#include <string_view>

namespace ralimp {

// All of the text, whatever signals arrive. False, with errno set, when the descriptor refuses.
bool write_text(int descriptor, std::string_view text);

class AppendedFile {
public:
    // Opens the file, making it when it is absent; what stands in it stays. Error(io), naming the
    // file, here and in append() when it cannot be written.
    explicit AppendedFile(std::string path);
    ~AppendedFile();
    AppendedFile(const AppendedFile&) = delete;
    AppendedFile& operator=(const AppendedFile&) = delete;

    void append(std::string_view text);

private:
    std::string path_;
    int descriptor_ = -1;
};

}  // namespace ralimp
