#include "data/hdf5_reader.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>

#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

class Hdf5Reader : public testing::Test {
protected:
    Hdf5Reader() : file_(H5Fcreate(path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
    ~Hdf5Reader() override { close(); }
    std::string path() const { return folder_ / "a.h5"; }
    void close() {
        if (file_ >= 0) H5Fclose(file_);
        file_ = -1;
    }
    // A null pointer leaves the values unwritten.
    void write(const char* name, hid_t type, const std::vector<hsize_t>& sizes,
               const void* values) {
        const hid_t space =
            sizes.empty() ? H5Screate(H5S_SCALAR)
                          : H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
        const hid_t dataset =
            H5Dcreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        ASSERT_GE(dataset, 0);
        if (values) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(dataset);
        H5Sclose(space);
    }
    std::string refusal(const std::string& name) {
        const Thrown thrown = error_of([&] { read_hdf5_dataset(path(), name); });
        EXPECT_EQ(thrown.code, ExitCode::bad_input);
        return thrown.text;
    }

    TemporaryFolder folder_;
    hid_t file_;
};

TEST_F(Hdf5Reader, ReadsNumbersOfAnyTypeAndShape) {
    const float floats[] = {1.5f, -2, 0.25f, 4, 5, 6};
    const int16_t whole[] = {-3, 7};
    const double scalar = 0.1;
    write("floats", H5T_NATIVE_FLOAT, {2, 3}, floats);
    write("whole", H5T_NATIVE_INT16, {2, 1, 1}, whole);
    write("scalar", H5T_NATIVE_DOUBLE, {}, &scalar);
    write("big_endian", H5T_IEEE_F64BE, {0}, nullptr);
    close();
    const Tensor a = read_hdf5_dataset(path(), "floats");
    EXPECT_EQ(a.shape(), Shape({2, 3}));
    EXPECT_EQ(a.to_vector<double>(), (std::vector<double>{1.5, -2, 0.25, 4, 5, 6}));
    const Tensor b = read_hdf5_dataset(path(), "/whole");
    EXPECT_EQ(b.shape(), Shape({2, 1, 1}));
    EXPECT_EQ(b.to_vector<double>(), (std::vector<double>{-3, 7}));
    EXPECT_EQ(read_hdf5_dataset(path(), "scalar").item(), 0.1);
    EXPECT_EQ(read_hdf5_dataset(path(), "big_endian").shape(), Shape({0}));
}

TEST_F(Hdf5Reader, SaysWhatIsWrong) {
    write("large", H5T_NATIVE_DOUBLE, {1 << 20, 1 << 20}, nullptr);
    write("many", H5T_NATIVE_DOUBLE, {1, 1, 1, 1, 1, 1, 1, 1, 1}, nullptr);
    write("hollow", H5T_NATIVE_DOUBLE, {1 << 14, 1 << 14},
          nullptr);  // 2 GB that were never written
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 3);
    write("text", text, {1}, "abc");
    H5Tclose(text);
    close();
    EXPECT_EQ(refusal("none"), path() + ": has no dataset none");
    EXPECT_EQ(refusal("/"), path() + ": has no dataset /");
    EXPECT_EQ(refusal("text"), path() + ": dataset text does not hold plain numbers");
    EXPECT_EQ(refusal("large"), path() + ": dataset large has more than 2147483648 elements");
    EXPECT_EQ(refusal("hollow"),
              fmt::format("{}: dataset hollow claims 268435456 elements, which a file of {} bytes "
                          "cannot hold; the file is damaged",
                          path(), std::filesystem::file_size(path())));
    EXPECT_EQ(refusal("many"), path() + ": dataset many has no values or 9 axes, more than 8");

    EXPECT_EQ(error_of([&] { read_hdf5_dataset(folder_ / "none", "x"); }).text,
              folder_ / "none" + ": is missing, unreadable or not an HDF5 file");
    std::ofstream(folder_ / "text") << "no HDF5";
    EXPECT_EQ(error_of([&] { read_hdf5_dataset(folder_ / "text", "x"); }).code,
              ExitCode::bad_input);
}

TEST_F(Hdf5Reader, PrintsNothingAndKeepsTheErrorHandlerOfOthers) {
    close();
    H5E_auto2_t before = nullptr, after = nullptr;
    void *data_before = nullptr, *data_after = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
    testing::internal::CaptureStderr();
    refusal("none");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
    H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
    EXPECT_EQ(before, after);
    EXPECT_EQ(data_before, data_after);
}

}  // namespace
}  // namespace ralimp
