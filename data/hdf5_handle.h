// Owners for the identifiers of the HDF5 C interface, and its error printing switched off.
#pragma once
#include <hdf5.h>

#include <utility>

namespace ralimp {

class Hdf5Handle {
public:
    using Closer = herr_t (*)(hid_t);

    Hdf5Handle(hid_t id, Closer closer) : id_(id), closer_(closer) {}
    Hdf5Handle(Hdf5Handle&& other) noexcept
        : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
    Hdf5Handle& operator=(Hdf5Handle&&) = delete;
    ~Hdf5Handle() {
        if (id_ >= 0) closer_(id_);
    }

    bool valid() const { return id_ >= 0; }
    operator hid_t() const { return id_; }

private:
    hid_t id_;
    Closer closer_;
};

// libhdf5 prints a stack of lines for each error it also returns. Silent while this lives.
class Hdf5ErrorsSilenced {
public:
    Hdf5ErrorsSilenced() {
        H5Eget_auto2(H5E_DEFAULT, &printer_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Hdf5ErrorsSilenced() { H5Eset_auto2(H5E_DEFAULT, printer_, data_); }
    Hdf5ErrorsSilenced(const Hdf5ErrorsSilenced&) = delete;
    Hdf5ErrorsSilenced& operator=(const Hdf5ErrorsSilenced&) = delete;

private:
    H5E_auto2_t printer_ = nullptr;
    void* data_ = nullptr;
};

}  // namespace ralimp
