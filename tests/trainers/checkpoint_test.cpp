// The checkpoint file: what is written is read again bit for bit, everything else is refused.
#include "trainers/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>

#include "core/file.h"
#include "tests/temporary_folder.h"
#include "trainers/checkpoint_format.h"

namespace ralimp {
namespace {

// Random bytes under any dtype: NaN patterns and denormals included.
Tensor random_tensor(const Shape& shape, DType dtype, unsigned seed) {
    Tensor tensor = Tensor::empty(shape, dtype);
    std::mt19937 random(seed);
    auto* bytes = static_cast<uint8_t*>(tensor.data());
    const std::size_t count = static_cast<std::size_t>(shape.elements()) * bytes_of(dtype);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(random());
    return tensor;
}

bool same_bits(const Tensor& a, const Tensor& b) {
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
    const std::size_t bytes = static_cast<std::size_t>(a.elements()) * bytes_of(a.dtype());
    return bytes == 0 || std::memcmp(a.data(), b.data(), bytes) == 0;
}

Checkpoint example() {
    Checkpoint checkpoint;
    checkpoint.config = "seed: 3\nname: \"é\"\n";
    checkpoint.values = {{"step", int64_t{1000}}, {"loss", 0.1}, {"sampler", std::string("sobol")}};
    checkpoint.add("model", {{"hidden.0.weight", random_tensor({3, 5}, DType::float32, 1)},
                             {"hidden.0.bias", random_tensor({3}, DType::float32, 2)}});
    checkpoint.add("optimizer", {{"first_moment", random_tensor({18}, DType::float64, 3)}});
    return checkpoint;
}

template <class F>
std::string error_of(F&& f, ExitCode code = ExitCode::bad_input) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
        return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return "";
}

std::string error_of_bytes(std::span<const uint8_t> bytes) {
    return error_of([&] { decode_checkpoint(bytes, "run.h5"); });
}

TEST(Checkpoint, RoundTripsEveryDtypeAndShape) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "a.h5").string();
    Checkpoint checkpoint = example();
    unsigned seed = 10;
    for (const DType dtype : all_dtypes)
        for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{0}, Shape{3, 0, 2},
                                   Shape{2, 3, 5}, Shape{1, 2, 1, 2, 1, 2, 1, 3}})
            checkpoint.add("model", {{fmt::format("{}.{}", name_of(dtype), seed),
                                      random_tensor(shape, dtype, seed)}}),
                ++seed;
    write_checkpoint(path, checkpoint);
    const Checkpoint again = read_checkpoint(path);
    EXPECT_EQ(again.config, checkpoint.config);
    EXPECT_EQ(again.values, checkpoint.values);
    EXPECT_EQ(again.program_version, RALIMP_VERSION);
    ASSERT_EQ(again.tensors.size(), checkpoint.tensors.size());
    for (const auto& [name, tensor] : checkpoint.tensors)
        EXPECT_TRUE(same_bits(again.tensors.at(name), tensor)) << name;
}

TEST(Checkpoint, RoundTripsValuesAndTexts) {
    Checkpoint checkpoint;
    checkpoint.values = {{"a", std::numeric_limits<int64_t>::min()},
                         {"b", std::numeric_limits<double>::infinity()},
                         {"c", -0.0},
                         {"d", 5e-324},
                         {"e", std::string()},
                         {"f", std::string("line\nbreak é ")},
                         {"g", std::numeric_limits<double>::quiet_NaN()}};
    checkpoint.config = std::string(200'000, 'x');  // beyond the 64 kB of an HDF5 attribute
    const Checkpoint again = decode_checkpoint(encode_checkpoint(checkpoint), "a.h5");
    EXPECT_EQ(again.config, checkpoint.config);
    EXPECT_TRUE(std::isnan(again.number("g")));
    EXPECT_TRUE(std::signbit(again.number("c")));
    checkpoint.values.erase("g");
    Checkpoint without_nan = again;
    without_nan.values.erase("g");
    EXPECT_EQ(without_nan.values, checkpoint.values);
    EXPECT_TRUE(decode_checkpoint(encode_checkpoint({}), "a.h5").tensors.empty());
}

TEST(Checkpoint, SameValuesGiveTheSameBytes) {
    EXPECT_EQ(encode_checkpoint(example()), encode_checkpoint(example()));
}

TEST(Checkpoint, IsAnOrdinaryHdf5File) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "a.h5").string();
    const Checkpoint checkpoint = example();
    write_checkpoint(path, checkpoint);
    Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    ASSERT_TRUE(file.valid());
    Hdf5Handle dataset(H5Dopen2(file, "/model/hidden.0.weight", H5P_DEFAULT), H5Dclose);
    ASSERT_TRUE(dataset.valid());
    std::vector<float> values(15);
    ASSERT_GE(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    const Tensor& weight = checkpoint.tensors.at("model/hidden.0.weight");
    EXPECT_EQ(std::memcmp(values.data(), weight.data(), 15 * sizeof(float)), 0);
    EXPECT_GT(H5Lexists(file, "trainer/step", H5P_DEFAULT), 0);
}

TEST(Checkpoint, SixteenBitFloatsAreFloatsForOtherPrograms) {
    Checkpoint checkpoint;
    Tensor half = Tensor::empty({2}, DType::float16), brain = Tensor::empty({2}, DType::bfloat16);
    const uint16_t half_bits[] = {0x3E00, 0xC000}, brain_bits[] = {0x3FC0, 0xC000};  // 1.5, -2
    std::memcpy(half.data(), half_bits, sizeof half_bits);
    std::memcpy(brain.data(), brain_bits, sizeof brain_bits);
    checkpoint.add("model", {{"half", half}, {"brain", brain}});
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "a.h5").string();
    write_checkpoint(path, checkpoint);
    Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    for (const char* name : {"model/half", "model/brain"}) {
        Hdf5Handle dataset(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
        double values[2] = {};
        ASSERT_GE(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
        EXPECT_EQ(values[0], 1.5) << name;
        EXPECT_EQ(values[1], -2.0) << name;
    }
}

TEST(Checkpoint, RefusesEveryFlippedBit) {
    const std::vector<uint8_t> good = encode_checkpoint(example());
    std::vector<uint8_t> bytes = good;
    for (std::size_t i = 0; i < good.size(); ++i) {
        bytes[i] ^= static_cast<uint8_t>(1u << (i % 8));
        EXPECT_THROW(decode_checkpoint(bytes, "run.h5"), Error) << "byte " << i;
        bytes[i] = good[i];
    }
    bytes[good.size() / 2] ^= 4;
    EXPECT_EQ(error_of_bytes(bytes), "run.h5: is damaged: its content does not match its checksum");
}

TEST(Checkpoint, RefusesEveryTruncation) {
    const std::vector<uint8_t> good = encode_checkpoint(example());
    for (std::size_t length = 0; length < good.size(); ++length)
        EXPECT_THROW(decode_checkpoint(std::span(good).first(length), "run.h5"), Error) << length;
    EXPECT_EQ(error_of_bytes({}), "run.h5: is an empty file, no checkpoint");
    EXPECT_EQ(error_of_bytes(std::span(good).first(good.size() - 1)),
              "run.h5: ends without the mark of a checkpoint; it is truncated or was written by "
              "another program");
    std::vector<uint8_t> longer = good;
    longer.push_back(0);
    EXPECT_THROW(decode_checkpoint(longer, "run.h5"), Error);
    longer.insert(longer.end(), good.begin(), good.end());
    EXPECT_THROW(decode_checkpoint(longer, "run.h5"), Error);
}

TEST(Checkpoint, RefusesWhatIsNoCheckpoint) {
    const TemporaryFolder folder;
    EXPECT_EQ(error_of([&] { read_checkpoint(folder.write("a.h5", "hello, world").string()); }),
              (folder.path() / "a.h5").string() + ": is not a checkpoint (no HDF5 file)");
    EXPECT_NE(error_of([&] {
                  read_checkpoint((folder.path() / "none.h5").string());
              }).find("No such file or directory"),
              std::string::npos);
    EXPECT_NE(error_of([&] { read_checkpoint(folder.path().string()); }).find("is a folder"),
              std::string::npos);
    // HDF5 of another program.
    const std::string other = (folder.path() / "other.h5").string();
    {
        Hdf5Handle file(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                        H5Fclose);
    }
    EXPECT_NE(error_of([&] { read_checkpoint(other); }).find("written by another program"),
              std::string::npos);
}

// An HDF5 file with a right trailer but a content of our choice.
template <class F>
std::string error_of_content(F&& fill) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "x.h5").string();
    {
        Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose);
        fill(static_cast<hid_t>(file));
    }
    std::vector<uint8_t> bytes = read_file(path);
    append_trailer(bytes);
    return error_of_bytes(bytes);
}

void write_dataset(hid_t file, const char* name, hid_t type, const std::vector<hsize_t>& sizes,
                   const void* data) {
    Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
    H5Pset_create_intermediate_group(links, 1);
    Hdf5Handle space(sizes.empty()
                         ? H5Screate(H5S_SCALAR)
                         : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                     H5Sclose);
    Hdf5Handle dataset(H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose);
    ASSERT_TRUE(dataset.valid());
    if (data) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
}

void write_head(hid_t file, int64_t version) {
    write_dataset(file, "format_version", H5T_NATIVE_INT64, {}, &version);
    Hdf5Handle text(H5Tcopy(H5T_C_S1), H5Tclose);
    write_dataset(file, "config", text, {}, "x");
    write_dataset(file, "program_version", text, {}, "1");
}

TEST(Checkpoint, RefusesContentsItDoesNotKnow) {
    EXPECT_NE(error_of_content([](hid_t) {}).find("it has no format_version"), std::string::npos);
    EXPECT_NE(error_of_content([](hid_t file) { write_head(file, 0); }).find("no format version"),
              std::string::npos);
    EXPECT_EQ(
        error_of_content([](hid_t file) { write_head(file, 2); }),
        fmt::format("run.h5: cannot be used as a checkpoint: it has format version 2, and this "
                    "program ({}) reads up to 1; use a newer program",
                    RALIMP_VERSION));
    EXPECT_NE(error_of_content([](hid_t file) {
                  const int64_t version = 1;
                  write_dataset(file, "format_version", H5T_NATIVE_INT64, {}, &version);
              }).find("it has no config"),
              std::string::npos);
    EXPECT_NE(error_of_content([](hid_t file) {
                  write_head(file, 1);
                  const uint16_t value = 1;
                  write_dataset(file, "model/a", H5T_NATIVE_UINT16, {1}, &value);
              }).find("model/a is of a type that tensors do not have"),
              std::string::npos);
    EXPECT_NE(
        error_of_content([](hid_t file) {
            write_head(file, 1);
            write_dataset(file, "model/a", H5T_IEEE_F32LE, {1, 1, 1, 1, 1, 1, 1, 1, 1}, nullptr);
        }).find("model/a has 9 axes; at most 8"),
        std::string::npos);
    EXPECT_NE(error_of_content([](hid_t file) {
                  write_head(file, 1);  // late allocation: the data is not in the file
                  write_dataset(file, "model/a", H5T_IEEE_F32LE, {1ull << 40}, nullptr);
              }).find("model/a is larger than the file"),
              std::string::npos);
    EXPECT_NE(error_of_content([](hid_t file) {
                  write_head(file, 1);
                  const int64_t values[] = {1, 2};
                  write_dataset(file, "trainer/a", H5T_NATIVE_INT64, {2}, values);
              }).find("trainer/a is not a single value"),
              std::string::npos);
}

TEST(Checkpoint, RefusesNamesThatWouldBeLost) {
    for (const char* name :
         {"model", "/model/a", "model/", "model//a", "model/./a", "trainer/a", ""}) {
        Checkpoint checkpoint;
        checkpoint.tensors[name] = random_tensor({1}, DType::float32, 1);
        EXPECT_THROW(encode_checkpoint(checkpoint), Error) << name;
    }
    for (const char* name : {"", "a/b", ".", "/"}) {
        Checkpoint checkpoint;
        checkpoint.values[name] = int64_t{1};
        EXPECT_THROW(encode_checkpoint(checkpoint), Error) << name;
    }
    Checkpoint checkpoint;
    checkpoint.values["a"] = std::string("a\0b", 3);
    EXPECT_THROW(encode_checkpoint(checkpoint), Error);
    EXPECT_THROW(checkpoint.add("model", {{"a", {}}, {"a", {}}}), Error);
}

TEST(Checkpoint, ValuesMustBeThereAndOfTheirType) {
    const Checkpoint checkpoint = example();
    EXPECT_EQ(checkpoint.whole_number("step"), 1000);
    EXPECT_EQ(checkpoint.number("loss"), 0.1);
    EXPECT_EQ(checkpoint.text("sampler"), "sobol");
    EXPECT_EQ(error_of([&] { checkpoint.whole_number("seed"); }),
              "checkpoint: trainer/seed is missing");
    EXPECT_EQ(error_of([&] { checkpoint.whole_number("loss"); }),
              "checkpoint: trainer/loss is not a whole number");
}

TEST(LoadInto, CopiesIntoTheMemoryOfTheTensors) {
    const Checkpoint checkpoint = example();
    NamedTensors model{{"hidden.0.bias", Tensor::empty({3})},
                       {"hidden.0.weight", Tensor::empty({3, 5})}};
    const void* memory = model[1].second.data();
    load_into(model, checkpoint, "model");
    EXPECT_EQ(model[1].second.data(), memory);
    EXPECT_TRUE(same_bits(model[0].second, checkpoint.tensors.at("model/hidden.0.bias")));
    EXPECT_TRUE(same_bits(model[1].second, checkpoint.tensors.at("model/hidden.0.weight")));
    load_into(model, checkpoint, "model");  // deepxde#323: restoring worked only once
}

TEST(LoadInto, ListsTheFirstOfManyDifferencesAndTheirNumber) {
    Checkpoint checkpoint;
    NamedTensors model;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
        checkpoint.add("model", {{name, random_tensor({2, 3}, DType::float32, 1)}});
        model.emplace_back(name, random_tensor({3, 2}, DType::float32, 2));
        const std::string text = error_of([&] { load_into(model, checkpoint, "model"); });
        const auto shown = std::count(text.begin(), text.end(), '[') / 2;
        EXPECT_EQ(shown, model.size() < 5 ? static_cast<int64_t>(model.size()) : 3) << text;
        EXPECT_EQ(text.ends_with("; and 2 more differences"), model.size() == 5) << text;
    }
    EXPECT_TRUE(error_of([&] {
                    load_matching(model, checkpoint, "model");
                }).ends_with("; and 2 more differences"));
}

TEST(LoadInto, ListsEveryDifferenceAtOnce) {
    Checkpoint checkpoint;
    checkpoint.add("model", {{"a", random_tensor({2}, DType::float32, 1)},
                             {"b", random_tensor({2, 3}, DType::float32, 2)},
                             {"c", random_tensor({4}, DType::float64, 3)},
                             {"old", random_tensor({1}, DType::float32, 4)}});
    checkpoint.add("models", {{"x", random_tensor({1}, DType::float32, 5)}});
    Tensor a = random_tensor({2}, DType::float32, 9);
    const Tensor before = random_tensor({2}, DType::float32, 9);
    const NamedTensors model{{"a", a},
                             {"b", random_tensor({3, 2}, DType::float32, 7)},
                             {"c", random_tensor({4}, DType::float32, 8)},
                             {"new", random_tensor({1}, DType::float32, 8)}};
    EXPECT_EQ(
        error_of([&] { load_into(model, checkpoint, "model"); }),
        "model: the checkpoint does not fit: b has shape [3, 2], in the checkpoint [2, 3]; c is "
        "float32, in the checkpoint float64; new is missing in the checkpoint; old stands only "
        "in the checkpoint");
    EXPECT_TRUE(same_bits(a, before));
    EXPECT_EQ(load_matching(model, checkpoint, "model").size(), 4u);
    EXPECT_TRUE(same_bits(a, checkpoint.tensors.at("model/a")));
    EXPECT_EQ(
        error_of([&] {
            load_matching({{"d", a}}, checkpoint, "models");
        }),
        "models: nothing of the checkpoint fits: d is missing in the checkpoint; x stands only "
        "in the checkpoint");
}

}  // namespace
}  // namespace ralimp
