// That one process at a time writes into a folder.
#pragma once
#include <filesystem>
#include <string>

namespace ralimp {

class FolderLock {
public:
    FolderLock() = default;  // of nothing
    // Holds the folder until the object goes or the process ends. Error(io): the folder cannot be
    // opened, or "FOLDER: REFUSAL" when another process holds it. A file system without locks is no
    // reason to refuse.
    FolderLock(const std::filesystem::path& folder, const std::string& refusal);
    FolderLock(FolderLock&& other) noexcept;
    FolderLock& operator=(FolderLock&& other) noexcept;
    ~FolderLock();

    bool is_held() const { return descriptor_ >= 0; }

private:
    int descriptor_ = -1;  // of the folder itself
};

}  // namespace ralimp
