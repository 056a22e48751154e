#include "trainers/result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/file.h"

namespace ralimp {

using Json = nlohmann::ordered_json;

void write_result(const std::string& path, const Result& result) {
    Json object = Json::object();
    for (const auto& [key, value] : result) {
        check(!key.empty() && !object.contains(key), "result: the key '{}' is given twice or empty",
              key);
        std::visit([&, &name = key](const auto& v) { object[name] = v; }, value);
    }
    // Texts come from configs and paths; what is not UTF-8 is replaced, not a reason to fail.
    const std::string text = object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

Result read_result(const std::string& path) {
    const std::vector<uint8_t> bytes = read_file(path);
    const Json object = Json::parse(bytes, nullptr, false);
    if (!object.is_object()) fail_with(ExitCode::bad_input, "{}: is not a JSON object", path);
    Result result;
    for (const auto& [key, value] : object.items()) {
        if (value.is_boolean())
            result.emplace_back(key, value.get<bool>());
        else if (value.is_number_integer() &&
                 !(value.is_number_unsigned() &&
                   value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()}))
            result.emplace_back(key, value.get<int64_t>());
        else if (value.is_number())
            result.emplace_back(key, value.get<double>());
        else if (value.is_string())
            result.emplace_back(key, value.get<std::string>());
        else if (value.is_null())
            result.emplace_back(key, std::numeric_limits<double>::quiet_NaN());
        else
            fail_with(ExitCode::bad_input, "{}: {} is not a single value", path, key);
    }
    return result;
}

const ResultValue* find_value(const Result& result, const std::string& key) {
    const auto found =
        std::find_if(result.begin(), result.end(), [&](const auto& e) { return e.first == key; });
    return found == result.end() ? nullptr : &found->second;
}

}  // namespace ralimp
