// The same points from CSV and HDF5, and what is refused.
#include "data/point_file.h"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <fstream>

#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

struct Dataset {
    const char* name;
    std::vector<hsize_t> shape;
    std::vector<double> values;
};

void write_hdf5(const std::string& path, const std::vector<Dataset>& datasets) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (const Dataset& one : datasets) {
        const hid_t space = one.shape.empty() ? H5Screate(H5S_SCALAR)
                                              : H5Screate_simple(static_cast<int>(one.shape.size()),
                                                                 one.shape.data(), nullptr);
        const hid_t set = H5Dcreate2(file, one.name, H5T_IEEE_F64LE, space, H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT);
        if (!one.values.empty())
            H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, one.values.data());
        H5Dclose(set);
        H5Sclose(space);
    }
    H5Fclose(file);
}

TEST(PointFile, ReadsTheNamedListsOfBothKinds) {
    const TemporaryFolder folder;
    const std::string csv = folder / "points.csv", hdf5 = folder / "points.data";
    std::ofstream(csv) << "u,t,more,x\n1,0.5,9,0.25\n2,0.125,9,3\n-4,0,9,1e-3\n";
    write_hdf5(hdf5, {{"u", {3}, {1, 2, -4}},
                      {"more", {2, 1}, {9, 9}},
                      {"t", {3}, {0.5, 0.125, 0}},
                      {"x", {3}, {0.25, 3, 1e-3}}});
    for (const std::string& path : {csv, hdf5}) {
        const Tensor points = read_point_file(path, {"x", "t", "u"});
        EXPECT_EQ(points.shape(), (Shape{3, 3})) << path;
        EXPECT_EQ(points.to_vector<double>(),
                  (std::vector<double>{0.25, 0.5, 1, 3, 0.125, 2, 1e-3, 0, -4}))
            << path;
    }
}

TEST(PointFile, RefusesWhatAreNoListsOfOneLength) {
    const TemporaryFolder folder;
    const std::string path = folder / "bad.h5";
    write_hdf5(path, {{"x", {2}, {0, 1}},
                      {"three", {3}, {0, 1, 2}},
                      {"column", {2, 1}, {0, 1}},
                      {"scalar", {}, {0}},
                      {"empty", {0}, {}},
                      {"nan", {2}, {0, NAN}},
                      {"infinite", {2}, {INFINITY, 0}}});
    const auto complaint = [&](const std::vector<std::string>& names) {
        const Thrown thrown = error_of([&] { read_point_file(path, names); });
        EXPECT_EQ(thrown.code, ExitCode::bad_input);
        EXPECT_EQ(thrown.text.find(path + ": "), 0u) << thrown.text;
        return thrown.text.substr(path.size() + 2);
    };
    EXPECT_EQ(complaint({"x", "u"}), "has no dataset u");
    EXPECT_EQ(complaint({"x", "three"}), "dataset three has 3 numbers, x has 2");
    EXPECT_EQ(complaint({"column", "x"}), "dataset column has shape [2, 1]; one axis is expected");
    EXPECT_EQ(complaint({"x", "scalar"}), "dataset scalar has shape []; one axis is expected");
    EXPECT_EQ(complaint({"empty"}), "dataset empty is empty");
    EXPECT_EQ(complaint({"nan"}), "dataset nan holds nan in row 2");
    EXPECT_EQ(complaint({"x", "infinite"}), "dataset infinite holds inf in row 1");
    std::ofstream(folder / "short.csv") << "x,u\n1,2\n";
    EXPECT_NE(error_of([&] {
                  read_point_file(folder / "short.csv", {"x", "v"});
              }).text.find("has no column v; it has x, u"),
              std::string::npos);
    EXPECT_EQ(error_of([&] { read_point_file(folder / "none.h5", {"x"}); }).code,
              ExitCode::bad_input);
    std::ofstream(folder / "cut.h5") << "\x89HDF\r\n\x1a\n and no more";
    EXPECT_EQ(error_of([&] { read_point_file(folder / "cut.h5", {"x"}); }).code,
              ExitCode::bad_input);
}

}  // namespace
}  // namespace ralimp
