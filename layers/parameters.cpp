#include "layers/parameters.h"

#include <set>

namespace ralimp {

Parameters::Parameters(Layer& model) {
    int64_t count = 0;
    DType dtype = DType::float32;
    std::set<std::string> names;
    model.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo& info) {
        check(names.insert(name).second, "parameters: two are named {}", name);
        if (!info.trained) return;
        check(entries_.empty() || tensor.dtype() == dtype, "parameters: {} is {}, others are {}",
              name, name_of(tensor.dtype()), name_of(dtype));
        dtype = tensor.dtype();
        entries_.push_back({name, count, tensor.shape(), info.decay, info.learning_rate_scale});
        count += tensor.elements();
    });
    values_ = Tensor::empty({count}, dtype);
    std::size_t index = 0;
    model.visit("", [&](const std::string&, Tensor& tensor, const ParameterInfo& info) {
        if (!info.trained) return;
        const Entry& entry = entries_[index++];
        const Tensor view =
            values_.strided_view(entry.shape, row_major_strides(entry.shape), entry.offset);
        view.copy_from(tensor);
        tensor = requires_grad(view);
        views_.push_back(tensor);
    });
}

Tensor Parameters::gradient(const Tensor& loss) const {
    const Tensors gradients = grad({loss}, views_);
    Tensor flat = Tensor::empty({count()}, values_.dtype(), values_.device());
    for (std::size_t i = 0; i < gradients.size(); ++i) {
        const Entry& entry = entries_[i];
        flat.strided_view(entry.shape, row_major_strides(entry.shape), entry.offset)
            .copy_from(gradients[i]);
    }
    return flat;
}

std::vector<std::pair<std::string, Tensor>> named_tensors(Layer& model) {
    std::vector<std::pair<std::string, Tensor>> tensors;
    model.visit("", [&](const std::string& name, Tensor& tensor, const ParameterInfo&) {
        tensors.emplace_back(name, tensor.detach());
    });
    return tensors;
}

}  // namespace ralimp
