#include "data/synthetic_picture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/parallel.h"
#include "core/random.h"

namespace ralimp {
namespace {

// Positions: x to the right from the middle, y down from the top, in units of the height.
constexpr double horizon = 0.60;
constexpr double sun_x = 0.16, sun_y = 0.43, sun_radius = 0.085;
constexpr double pi = 3.14159265358979323846;

struct Color {
    double r, g, b;
};

Color mix(const Color& a, const Color& b, double part) {
    return {a.r + (b.r - a.r) * part, a.g + (b.g - a.g) * part, a.b + (b.b - a.b) * part};
}

double smooth_step(double from, double to, double x) {
    const double t = std::clamp((x - from) / (to - from), 0.0, 1.0);
    return t * t * (3 - 2 * t);
}

// Smooth noise in [0, 1] on a lattice of random values, and its sum over octaves.
class Noise {
public:
    Noise() {
        const RandomKey key{2023, RandomStream::noise, 0};
        for (std::size_t i = 0; i < lattice_.size(); ++i)
            lattice_[i] = random_uniform<double>(key, i);
    }

    double operator()(double x, double y) const {
        const double fx = std::floor(x), fy = std::floor(y);
        const double tx = smooth_step(0, 1, x - fx), ty = smooth_step(0, 1, y - fy);
        const auto ix = static_cast<int64_t>(fx), iy = static_cast<int64_t>(fy);
        const double top = std::lerp(at(ix, iy), at(ix + 1, iy), tx);
        const double bottom = std::lerp(at(ix, iy + 1), at(ix + 1, iy + 1), tx);
        return std::lerp(top, bottom, ty);
    }

    double octaves(double x, double y, int count) const {
        double sum = 0, weight = 0.5;
        for (int i = 0; i < count; ++i, weight /= 2) {
            sum += weight * (*this)(x, y);
            x = 2 * x + 17.3;
            y = 2 * y + 5.7;
        }
        return sum;
    }

private:
    static constexpr int64_t size_ = 64;
    double at(int64_t x, int64_t y) const {
        const auto wrap = [](int64_t i) { return static_cast<std::size_t>(i & (size_ - 1)); };
        return lattice_[wrap(y) * size_ + wrap(x)];
    }
    std::array<double, size_ * size_> lattice_;
};

Color sky(const Noise& noise, double x, double y) {
    constexpr Color zenith{0.09, 0.13, 0.34}, middle{0.55, 0.32, 0.52}, low{0.99, 0.66, 0.36};
    const double up = std::clamp(y / horizon, 0.0, 1.0);
    Color color = up < 0.55 ? mix(zenith, middle, smooth_step(0, 0.55, up))
                            : mix(middle, low, smooth_step(0.5, 1.0, up));
    const double distance = std::hypot(x - sun_x, y - sun_y);
    color = mix(color, {1.0, 0.82, 0.50}, 0.75 * std::exp(-distance / 0.13));
    // Long thin clouds, lit from below near the sun.
    const double cloud = smooth_step(0.46, 0.70, noise.octaves(2.2 * x + 9, 11 * y + 3, 5));
    const Color lit = mix({0.36, 0.24, 0.42}, {1.0, 0.60, 0.42}, std::exp(-distance / 0.35));
    color = mix(color, lit, 0.65 * cloud * smooth_step(0.62, 0.30, y));
    if (distance < sun_radius) return {1.0, 0.95, 0.78};
    return color;
}

// Height of a ridge above the horizon: peaks of several sizes.
double ridge(const Noise& noise, double x, double scale, double seed) {
    double sum = 0, weight = 1, frequency = scale;
    for (int i = 0; i < 5; ++i, weight *= 0.45, frequency *= 2.1)
        sum += weight * (1 - std::abs(2 * noise(frequency * x + seed, seed) - 1));
    return sum / 1.8;
}

// Everything above the waterline; what the water mirrors.
Color shore(const Noise& noise, double x, double y) {
    struct Range {
        double scale, seed, height, fade;
        Color color;
    };
    constexpr Range ranges[] = {{2.0, 3.5, 0.150, 0.24, {0.16, 0.12, 0.24}},
                                {2.6, 21.2, 0.200, 0.50, {0.27, 0.18, 0.33}},
                                {1.7, 40.8, 0.270, 0.78, {0.44, 0.29, 0.44}}};
    for (const Range& range : ranges) {
        // The bay opens to the right of the middle, under the sun.
        const double open =
            1 - 0.75 * std::exp(-std::pow((x - sun_x) / 0.23, 2)) * (1 - range.fade);
        const double top = horizon - range.height * open * ridge(noise, x, range.scale, range.seed);
        if (y < top) continue;
        // Rock: fine grain, coarser bands that follow the slope, and haze toward the water.
        const double grain = noise.octaves(90 * x, 60 * y, 4) - 0.47;
        const double band = std::sin(2 * pi * (34 * (y - top) + 5 * noise(9 * x, 9 * y)));
        const double light = 1 + (1 - range.fade) * (1.1 * grain + 0.16 * band);
        const double haze = 0.55 * smooth_step(top, horizon + 0.03, y);
        const Color rock{range.color.r * light, range.color.g * light, range.color.b * light};
        return mix(rock, {0.86, 0.56, 0.45}, haze * range.fade + 0.12 * haze);
    }
    return sky(noise, x, y);
}

Color water(const Noise& noise, double x, double y) {
    // Ripples in perspective: ever finer toward the horizon, where they fade before they alias.
    const double depth = y - horizon;
    const double distance = 1 / (depth + 0.035);
    const double fade = smooth_step(0.0, 0.10, depth);
    const double wave = std::sin(7.5 * distance + 5 * noise(3 * x, 9 * distance / 8)) +
                        0.6 * std::sin(2.6 * x * distance + 11 * distance) +
                        1.2 * (noise.octaves(1.3 * x * distance, 4 * distance, 4) - 0.47);
    const double shift = 0.02 * wave * (0.25 + fade);
    Color color = shore(noise, x + 0.3 * shift, std::max(0.0, horizon - 0.92 * depth + shift));
    color = mix(color, {0.07, 0.10, 0.24}, 0.28 + 0.35 * smooth_step(0, 0.45, depth));
    // The path of light under the sun breaks into glints.
    const double path = std::exp(-std::pow((x - sun_x) / (0.035 + 0.30 * depth), 2));
    const double glint = smooth_step(0.15, 1.05, wave + 0.55 * path);
    return mix(color, {1.0, 0.83, 0.52}, 0.85 * path * glint);
}

bool inside_triangle(double x, double y, const double (&corner)[6]) {
    const auto side = [&](int a, int b) {
        return (corner[2 * b] - corner[2 * a]) * (y - corner[2 * a + 1]) -
               (corner[2 * b + 1] - corner[2 * a + 1]) * (x - corner[2 * a]);
    };
    const double s = side(0, 1), t = side(1, 2), u = side(2, 0);
    return (s >= 0 && t >= 0 && u >= 0) || (s <= 0 && t <= 0 && u <= 0);
}

// A sailing boat: the sharpest edges, and stripes. False where it is not.
bool boat(double x, double y, Color& color) {
    constexpr double main_sail[] = {-0.190, 0.405, -0.190, 0.690, -0.330, 0.690};
    constexpr double fore_sail[] = {-0.178, 0.440, -0.178, 0.690, -0.085, 0.690};
    const double hull = (y - 0.708) / 0.042;
    if (hull >= 0 && hull <= 1 && x > -0.355 + 0.05 * hull && x < -0.055 - 0.05 * hull * hull) {
        color = hull < 0.28 ? Color{0.93, 0.90, 0.84} : Color{0.48, 0.08, 0.10};
        return true;
    }
    if (std::abs(x + 0.184) < 0.0035 && y > 0.385 && y < 0.71) {
        color = {0.20, 0.12, 0.09};
        return true;
    }
    if (inside_triangle(x, y, main_sail)) {
        const double shade = 0.86 + 0.14 * smooth_step(-0.33, -0.19, x);
        const bool stripe = std::fmod(y, 0.036) < 0.012;
        color = stripe ? Color{0.80 * shade, 0.22 * shade, 0.16 * shade}
                       : Color{0.98 * shade, 0.93 * shade, 0.82 * shade};
        return true;
    }
    if (inside_triangle(x, y, fore_sail)) {
        const double seam = 1 - 0.10 * (std::fmod(x - 0.7 * y + 2, 0.022) < 0.004);
        color = {0.97 * seam, 0.86 * seam, 0.70 * seam};
        return true;
    }
    return false;
}

Color scene(const Noise& noise, double x, double y) {
    Color color{};
    if (boat(x, y, color)) return color;
    if (y < horizon) return shore(noise, x, y);
    color = water(noise, x, y);
    // The boat's mirror image, torn by the ripples.
    constexpr double waterline = 0.75;
    Color mirrored{};
    const double sway = 0.010 * std::sin(260 * y + 30 * noise(8 * x, 20 * y));
    if (y > waterline && boat(x + sway, 2 * waterline - y, mirrored))
        return mix(color, mirrored, 0.45 * smooth_step(0.98, waterline, y));
    return color;
}

}  // namespace

Image synthetic_picture(int64_t height, int64_t width) {
    check(height >= 1 && width >= 1 && height <= most_pixels / width,
          "synthetic_picture: {} x {} pixels; at least one and at most {} are possible", width,
          height, most_pixels);
    constexpr int samples = 3;  // along each axis of a pixel, so that edges are not jagged
    static const Noise noise;
    Image image{Tensor::empty({height, width, 3}), 8};
    auto* pixels = image.pixels.data<float>();
    const double unit = 1 / static_cast<double>(height);
    parallel_for(height, 4, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            for (int64_t j = 0; j < width; ++j) {
                Color sum{0, 0, 0};
                for (int k = 0; k < samples * samples; ++k) {
                    const double down = (k / samples + 0.5) / samples;
                    const double right = (k % samples + 0.5) / samples;
                    const double x =
                        static_cast<double>(j) + right - 0.5 * static_cast<double>(width);
                    const Color color =
                        scene(noise, x * unit, (static_cast<double>(i) + down) * unit);
                    sum = {sum.r + color.r, sum.g + color.g, sum.b + color.b};
                }
                float* pixel = pixels + (i * width + j) * 3;
                const double values[] = {sum.r, sum.g, sum.b};
                for (int c = 0; c < 3; ++c)
                    pixel[c] =
                        static_cast<float>(std::clamp(values[c] / (samples * samples), 0.0, 1.0));
            }
        }
    });
    return image;
}

}  // namespace ralimp
