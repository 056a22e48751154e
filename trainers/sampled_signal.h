// What a SIREN represents: a signal sampled on a grid, and the files that show a network's version
// of it. The kinds are `data: {kind: …}` in a config; a new one is one file with its class, one
// alternative here and one case in make_signal.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/describe.h"
#include "trainers/grid.h"
#include "trainers/metrics.h"

namespace ralimp {

struct ImageDataConfig {
    static constexpr const char* kind = "image";
    std::optional<std::filesystem::path> image;
    std::optional<std::array<int64_t, 2>> size;
    int64_t batch_size = 0;

    static void describe(auto& config, auto& field) {
        field("image", config.image, "PNG or JPEG; null: a picture the program draws itself");
        field("size", config.size,
              "[height, width] to shrink the image to, by area; null: as it is (drawn: 256 x 256)",
              between(1, 16384));
        field("batch_size", config.batch_size,
              "pixels of a step, each once per epoch in a new random order; 0: all", at_least(0));
    }
};

struct AudioDataConfig {
    static constexpr const char* kind = "audio";
    std::optional<std::filesystem::path> sound;
    std::optional<double> seconds;
    int64_t batch_size = 0;

    static void describe(auto& config, auto& field) {
        field("sound", config.sound, "WAV; null: a tone the program makes itself (8000 Hz)");
        field("seconds", config.seconds, "length, from the start; null: all (tone: 1)",
              more_than(0).at_most(3600));
        field("batch_size", config.batch_size,
              "samples of a step, each once per epoch in a new random order; 0: all", at_least(0));
    }
};

using SignalConfig = std::variant<ImageDataConfig, AudioDataConfig>;

class SampledSignal {
public:
    virtual ~SampledSignal() = default;

    // "image", "sound", for messages.
    virtual std::string name() const = 0;
    virtual const Grid& grid() const = 0;
    // [points, channels] in [-1, 1], in the grid's order: what the network learns.
    virtual Tensor values(DType dtype) const = 0;
    virtual int64_t channels() const = 0;

    virtual std::vector<std::string> metric_names() const = 0;
    // Figures of a reconstruction [points, channels] beside the values, the most telling first.
    virtual NamedValues metrics(const Tensor& reconstruction, const Tensor& values) const = 0;
    // Writes what shows a reconstruction of the signal beside the signal; returns the names.
    virtual std::vector<std::string> draw(const std::filesystem::path& folder,
                                          const Tensor& reconstruction) const = 0;
    // Error(bad_config) for a grid that write() cannot write.
    virtual void check_grid(const Grid& grid) const = 0;
    // Writes a reconstruction [points, channels] on any grid into the folder, under the stem with
    // the file type's ending; returns the name.
    virtual std::string write(const std::filesystem::path& folder, const std::string& stem,
                              const Tensor& reconstruction, const Grid& grid) const = 0;
    // The same for a field [points, channels] in units of its own, such as a derivative.
    virtual std::string write_field(const std::filesystem::path& folder, const std::string& stem,
                                    const Tensor& field, const Grid& grid,
                                    bool has_signs) const = 0;
};

// Reads or makes the signal: Error(bad_input) when a file cannot be read, Error(bad_config) when
// the config does not fit it.
std::unique_ptr<SampledSignal> make_signal(const SignalConfig& config);

}  // namespace ralimp
