#include "layers/dense.h"

namespace ralimp {

std::string Dense::description() const {
    return fmt::format(
        "dense {} -> {}, {}{}{}", inputs(), outputs(), name_of(activation_),
        scale_ == 1 ? "" : fmt::format(" of {} x", scale_),
        activation_ == Activation::wire ? fmt::format(", envelope {}", envelope_) : "");
}

}  // namespace ralimp
