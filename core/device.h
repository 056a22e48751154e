// Where the memory of a tensor lives and which backend computes on it.
#pragma once
#include <cstdint>
#include <string>

namespace ralimp {

enum class DeviceType : uint8_t { cpu, cuda };

struct Device {
    DeviceType type = DeviceType::cpu;
    int16_t index = 0;
    friend bool operator==(const Device&, const Device&) = default;
};

inline std::string to_string(Device device) {
    return device.type == DeviceType::cpu ? "cpu" : "cuda:" + std::to_string(device.index);
}

}  // namespace ralimp
