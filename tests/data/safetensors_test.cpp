// Safetensors files: round trips, a file of the safetensors package, every kind of bad file.
#include "data/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "core/file.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

std::vector<uint8_t> bytes_of(const Tensor& tensor) {
    const auto* const first = static_cast<const uint8_t*>(tensor.data());
    return {first, first + static_cast<std::size_t>(tensor.elements()) * bytes_of(tensor.dtype())};
}

void expect_same(const Safetensors& a, const Safetensors& b) {
    EXPECT_EQ(a.metadata, b.metadata);
    ASSERT_EQ(a.tensors.size(), b.tensors.size());
    for (const auto& [name, tensor] : a.tensors) {
        ASSERT_TRUE(b.tensors.count(name)) << name;
        const Tensor& other = b.tensors.at(name);
        EXPECT_EQ(tensor.dtype(), other.dtype()) << name;
        EXPECT_EQ(tensor.shape(), other.shape()) << name;
        EXPECT_EQ(bytes_of(tensor), bytes_of(other)) << name;
    }
}

// What tests/golden/make_safetensors_golden.py writes.
Safetensors golden_content() {
    Safetensors content;
    std::vector<float> half_steps;
    for (int i = 0; i < 15; ++i) half_steps.push_back(static_cast<float>(i) / 2 - 3);
    content.tensors["half steps"] = Tensor::from(half_steps, {3, 5});
    std::vector<double> thirds;
    for (int i = 0; i < 4; ++i) thirds.push_back(i / 3.0);
    content.tensors["thirds"] = Tensor::from(thirds, {2, 1, 2});
    std::vector<int64_t> squares;
    for (int64_t i = 0; i < 7; ++i) squares.push_back(-i * i * (int64_t{1} << 40));
    content.tensors["squares"] = Tensor::from(squares, {7});
    content.tensors["odd"] = Tensor::from(std::vector<int32_t>{1, 3, 5}, {3});
    content.tensors["bytes"] = Tensor::from(std::vector<uint8_t>{0, 60, 120, 180, 240}, {5});
    content.tensors["scalar"] = Tensor::scalar(2.5);
    content.tensors["empty"] = Tensor::zeros({0, 4}, DType::float64);
    content.tensors["Größe \"1\""] =
        Tensor::from(std::vector<double>{std::numeric_limits<double>::infinity(), -0.0}, {2});
    content.metadata = {{"kind", "golden"}, {"text", "two\nlines, \"quoted\", µ"}};
    return content;
}

TEST(SafetensorsFile, ReadsWhatTheSafetensorsPackageWrote) {
    expect_same(read_safetensors(SOURCE_DIR "/tests/golden/golden.safetensors"), golden_content());
}

TEST(SafetensorsFile, GivesBackWhatWasWritten) {
    const TemporaryFolder folder;
    Safetensors content = golden_content();
    content.tensors["nan"] = Tensor::full({1, 2, 3, 1, 1, 1, 1, 3}, std::nan(""));
    // A view that is not row-major.
    const Tensor whole = Tensor::arange(12, DType::int32);
    content.tensors["transposed"] = whole.strided_view({4, 3}, {1, 4});
    write_safetensors(folder / "a.safetensors", content);
    content.tensors["transposed"] = content.tensors["transposed"].contiguous();
    expect_same(read_safetensors(folder / "a.safetensors"), content);
    for (const Safetensors& small : {Safetensors{}, Safetensors{{}, {{"a", "b"}}}})
        expect_same(decode_safetensors(encode_safetensors(small), "small"), small);
}

TEST(SafetensorsFile, HasEveryTensorAlignedToItsType) {
    const std::vector<uint8_t> bytes = encode_safetensors(golden_content());
    EXPECT_EQ(bytes, encode_safetensors(golden_content()));
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    EXPECT_EQ(length % 8, 0u);
    const std::string header(bytes.begin() + 8, bytes.begin() + 8 + static_cast<int64_t>(length));
    // F64 and I64 (120 bytes), then F32 and I32, then U8.
    EXPECT_NE(header.find(R"("bytes":{"dtype":"U8","shape":[5],"data_offsets":[180,185]})"),
              std::string::npos)
        << header;
    EXPECT_NE(header.find(R"("squares":{"dtype":"I64","shape":[7],"data_offsets":[16,72]})"),
              std::string::npos)
        << header;
}

TEST(SafetensorsFile, RefusesToWriteWhatCannotBeRead) {
    const auto refusal = [](const std::string& name, const Tensor& tensor,
                            const std::string& text = "") {
        return error_of([&] { encode_safetensors({{{name, tensor}}, {{"text", text}}}); }).text;
    };
    EXPECT_EQ(refusal("a", Tensor::scalar(1)), "");
    EXPECT_NE(refusal("a", Tensor::empty({1}, DType::bfloat16)).find("a is bfloat16"),
              std::string::npos);
    EXPECT_NE(refusal("__metadata__", Tensor::scalar(1)).find("__metadata__"), std::string::npos);
    EXPECT_NE(refusal("\xff", Tensor::scalar(1)).find("not UTF-8"), std::string::npos);
    EXPECT_NE(refusal("a", Tensor::scalar(1), "\xff").find("not UTF-8"), std::string::npos);
    const Thrown error = error_of([] { write_safetensors("/no/such/folder/a", {}); });
    EXPECT_EQ(error.code, ExitCode::io);
}

// A file of this header and so many bytes of tensors.
std::vector<uint8_t> file_of(const std::string& header, std::size_t data,
                             std::optional<uint64_t> length = {}) {
    const uint64_t written = length.value_or(header.size());
    std::vector<uint8_t> bytes(8 + header.size() + data);
    std::memcpy(bytes.data(), &written, 8);
    std::memcpy(bytes.data() + 8, header.data(), header.size());
    return bytes;
}

TEST(SafetensorsFile, RefusesEveryKindOfBadFile) {
    const std::string a = R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})";
    const auto with = [](const std::string& dtype, const std::string& shape,
                         const std::string& offsets) {
        return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" +
               offsets + "}}";
    };
    struct Case {
        std::vector<uint8_t> bytes;
        const char* expected;
    };
    const Case cases[] = {
        {{}, "0 bytes are no safetensors file"},
        {std::vector<uint8_t>(7), "7 bytes are no safetensors file"},
        {file_of("", 0), "does not begin with {"},
        {file_of("{}", 0, 3), "a header of 3 bytes in a file with 2 left"},
        {file_of("{}", 0, 100'000'001), "100000000 may be"},
        {file_of("{}", 0, ~uint64_t{0}), "100000000 may be"},
        {file_of(" {}", 0), "does not begin with {"},
        {file_of("[]", 0), "does not begin with {"},
        {file_of("\xef\xbb\xbf{}", 0), "does not begin with {"},
        {file_of("{", 0), "is no JSON"},
        {file_of("{}x", 0), "is no JSON"},
        {file_of("{}{}", 0), "is no JSON"},
        {file_of(std::string("{}\0", 3), 0), "a byte of zeros"},
        {file_of(std::string("{\"a\0\":1}", 8), 0), "a byte of zeros"},
        {file_of("{\"a\xff\":1}", 0), "is no JSON"},
        {file_of("{" + a + ",}", 8), "is no JSON"},
        {file_of("{" + a + "," + a + "}", 8), "\"a\" stands twice"},
        {file_of(R"({"__metadata__":{},"__metadata__":{}})", 0), "stands twice"},
        {file_of(R"({"__metadata__":{"k":"1","k":"2"}})", 0), "metadata have \"k\" twice"},
        {file_of(R"({"__metadata__":{"k":1}})", 0), "\"k\" of the metadata is a number"},
        {file_of(R"({"__metadata__":{"k":{}}})", 0), "\"k\" of the metadata is an object"},
        {file_of(R"({"__metadata__":{"k":null}})", 0), "\"k\" of the metadata is null"},
        {file_of(R"({"__metadata__":"k"})", 0), "is a text in the header"},
        {file_of(R"({"a":[]})", 0), "\"a\" is a list in the header"},
        {file_of(R"({"a":{}})", 0), "\"a\" has no dtype"},
        {file_of(R"({"a":{"dtype":"F32"}})", 0), "\"a\" has no shape"},
        {file_of(R"({"a":{"dtype":"F32","shape":[0]}})", 0), "\"a\" has no data_offsets"},
        {file_of(R"({"a":{"dtype":"F32","dtype":"F32"}})", 0), "\"a\" has dtype twice"},
        {file_of(R"({"a":{"shape":[],"shape":[]}})", 0), "\"a\" has shape twice"},
        {file_of(R"({"a":{"size":[]}})", 0), "unknown field \"size\""},
        {file_of(R"({"a\n\u001b":{}})", 0), R"("a\n\u001b" has no dtype)"},
        {file_of(with("\"BF16\"", "[2]", "[0,4]"), 4), "the dtype \"BF16\""},
        {file_of(with("\"f32\"", "[2]", "[0,8]"), 8), "the dtype \"f32\""},
        {file_of(with("1", "[2]", "[0,8]"), 8), "a number as its dtype"},
        {file_of(with("[]", "[2]", "[0,8]"), 8), "a list as its dtype"},
        {file_of(with("\"F32\"", "2", "[0,8]"), 8), "a number as its shape"},
        {file_of(with("\"F32\"", "[[2]]", "[0,8]"), 8), "a list in its shape"},
        {file_of(with("\"F32\"", "[-2]", "[0,8]"), 8), "a negative number in its shape"},
        {file_of(with("\"F32\"", "[2.0]", "[0,8]"), 8), "not whole in its shape"},
        {file_of(with("\"F32\"", "[18446744073709551616]", "[0,8]"), 8), "not whole in its shape"},
        {file_of(with("\"F32\"", "[\"2\"]", "[0,8]"), 8), "a text in its shape"},
        {file_of(with("\"F32\"", "[true]", "[0,8]"), 8), "true or false in its shape"},
        {file_of(with("\"F32\"", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), 8), "more than 8 numbers"},
        {file_of(with("\"F32\"", "[2]", "[0]"), 8), "not two data_offsets"},
        {file_of(with("\"F32\"", "[2]", "[0,8,8]"), 8), "more than 2 numbers"},
        {file_of(with("\"F32\"", "[2]", "[0,9]"), 8), "the bytes 0 to 9 of 8"},
        {file_of(with("\"F32\"", "[2]", "[0,18446744073709551615]"), 8), "of 8"},
        {file_of(with("\"F32\"", "[2]", "[8,0]"), 8), "begins at byte 8"},
        {file_of(with("\"F32\"", "[0]", "[0,0]"), 8), "8 bytes behind the last tensor"},
        {file_of("{}", 8), "8 bytes behind the last tensor"},
        {file_of(with("\"F32\"", "[2]", "[0,8]"), 9), "1 bytes behind the last tensor"},
        {file_of(with("\"F32\"", "[3]", "[0,8]"), 8), "has 8 bytes, its shape 12"},
        {file_of(with("\"F64\"", "[]", "[0,4]"), 4), "has 4 bytes, its shape 8"},
        {file_of(with("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0), "beyond any memory"},
        {file_of(with("\"F32\"", "[0,4294967296,4294967296]", "[0,0]"), 0), "beyond any memory"},
        {file_of("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[9,11]}})", 11),
         "\"b\" begins at byte 9; the one before it ends at 8"},
        {file_of("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[7,9]}})", 9),
         "\"b\" begins at byte 7; the one before it ends at 8"},
        {file_of("{" + a + R"(,"b":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8),
         "begins at byte 0; the one before it ends at 8"},
        {file_of("{\"" + std::string(100'000, 'n') + "\":{}}", 0), "nnn… has no dtype"},
        {file_of(std::string("{\"a\":") + std::string(1'000'000, '['), 0), "\"a\" is a list"},
    };
    int number = 0;
    for (const auto& [bytes, expected] : cases) {
        const Thrown error = error_of([&] { decode_safetensors(bytes, "file.safetensors"); });
        EXPECT_EQ(error.code, ExitCode::bad_input) << number << ": " << error.text;
        EXPECT_EQ(error.text.find("file.safetensors: "), 0u) << number << ": " << error.text;
        EXPECT_NE(error.text.find(expected), std::string::npos)
            << number << ", " << expected << ": " << error.text;
        EXPECT_EQ(error.text.find('\n'), std::string::npos) << number << ": " << error.text;
        EXPECT_LT(error.text.size(), 250u) << number;
        ++number;
    }
    EXPECT_EQ(error_of([] { read_safetensors("no/such.safetensors"); }).code, ExitCode::bad_input);
}

// What the format allows beyond what is written here.
TEST(SafetensorsFile, TakesAnyOrderAndAlignment) {
    const Safetensors read =
        decode_safetensors(file_of(R"({"b":{"data_offsets":[1,9],"shape":[],"dtype":"F64"} ,)"
                                   R"("a":{"shape":[1],"dtype":"U8","data_offsets":[0,1]}}   )",
                                   9),
                           "file");
    EXPECT_EQ(read.tensors.at("a").shape(), Shape{1});
    EXPECT_EQ(read.tensors.at("b").item(), 0);
}

}  // namespace
}  // namespace ralimp
