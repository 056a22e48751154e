// Meshes: what OBJ and PLY files hold, refusals with their lines, areas and defects of known
// solids, samples of the surface.
#include "data/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/file.h"
#include "core/parallel.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"

namespace ralimp {
namespace {

// The unit cube, outwards.
const std::string cube_vertices =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n";
const std::string cube_faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

Mesh obj(const std::string& text) { return parse_obj(text, "mesh.obj"); }
Mesh cube() { return obj(cube_vertices + cube_faces); }

std::string obj_error(const std::string& text) {
    const Thrown thrown = error_of([&] { obj(text); });
    EXPECT_EQ(thrown.code, thrown.text.empty() ? ExitCode::success : ExitCode::bad_input);
    EXPECT_EQ(thrown.text.find('\n'), std::string::npos);
    return thrown.text;
}

Mesh ply(const std::string& bytes) {
    return parse_ply({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "mesh.ply");
}
std::string ply_error(const std::string& bytes) {
    const Thrown thrown = error_of([&] { ply(bytes); });
    EXPECT_EQ(thrown.code, thrown.text.empty() ? ExitCode::success : ExitCode::bad_input);
    EXPECT_EQ(thrown.text.find('\n'), std::string::npos);
    return thrown.text;
}

// The number in the file's byte order.
template <class T>
std::string raw(T value, bool big) {
    auto bytes = std::bit_cast<std::array<char, sizeof(T)>>(value);
    if (big == (std::endian::native == std::endian::little))
        std::reverse(bytes.begin(), bytes.end());
    return {bytes.begin(), bytes.end()};
}

TEST(Obj, EveryFormOfAnIndexNamesTheSameTriangle) {
    const std::string vertices =
        "v 0 0 0\nv 1 0 0\nv 0 2 0\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 2\nvn 0 3 0\nvn 1 0 0\n";
    for (const char* face : {"f 1 2 3", "f 1/1 2/2 3/3", "f 1//1 2//2 3//3", "f 1/1/1 2/2/2 3/3/3",
                             "f -3 -2 -1", "f -3/-3/-3 -2/-2/-2 -1/-1/-1", "f -3//1 2//-2 -1//3",
                             "f\t1/1/1   2/2/2 3/3/3  # a comment", "f 1/1/1 \\\n 2/2/2 3/3/3"}) {
        const Mesh mesh = obj(vertices + face);
        EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}})) << face;
        EXPECT_EQ(mesh.vertices, (std::vector<Vector3>{{0, 0, 0}, {1, 0, 0}, {0, 2, 0}})) << face;
        const bool has_normals = std::count(face, face + std::strlen(face), '/') > 3;
        EXPECT_EQ(mesh.normal_triangles.size(), has_normals ? 1u : 0u) << face;
        if (has_normals) {
            EXPECT_EQ(mesh.normals, (std::vector<Vector3>{{0, 0, 1}, {0, 1, 0}, {1, 0, 0}}));
        }
    }
}

TEST(Obj, PolygonsAreFansAndForeignStatementsArePassedOver) {
    const Mesh mesh =
        obj("\xEF\xBB\xBFmtllib a.mtl\r\no thing\r\nf 1 2 3 4 5\r\ng a b\r\ns off\r\n"
            "usemtl x\r\nv +1 0 0 1\r\nv 1e0 1 0 0.1 0.2 0.3\r\nv 0 1 0\r\n"
            "v 0 0.5 0\r\n\r\nv 0 0 0\r\nl 1 2\r\np 1\r\nf 1 2 2\r\n");
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 4}}));
    EXPECT_TRUE(mesh.normals.empty());
}

TEST(Obj, NormalsOfSomeFacesAreNone) {
    const std::string vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 1\n";
    for (const char* faces : {"f 1//1 2//1 3//1\nf 1 3 2\n", "f 1 3 2\nf 1//1 2//1 3//1\n"}) {
        const Mesh mesh = obj(vertices + faces);
        EXPECT_EQ(mesh.triangles.size(), 2u);
        EXPECT_TRUE(mesh.normal_triangles.empty());
        EXPECT_TRUE(mesh.normals.empty());
    }
}

TEST(Obj, ErrorsNameTheLine) {
    const std::string v = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    EXPECT_EQ(obj_error(""), "mesh.obj: no face (f)");
    EXPECT_EQ(obj_error(v), "mesh.obj: no face (f)");
    EXPECT_EQ(obj_error(v + "f 1 1 2\n"), "mesh.obj: no face has three different vertices");
    EXPECT_EQ(obj_error("v 0 0\n"), "mesh.obj:1: 2 numbers after v");
    EXPECT_EQ(obj_error("\n#\nv 0 nan 0\n"), "mesh.obj:3: 'nan' is no finite number");
    EXPECT_EQ(obj_error("v 0 inf 0\n"), "mesh.obj:1: 'inf' is no finite number");
    EXPECT_EQ(obj_error("v 0 1e999 0\n"), "mesh.obj:1: '1e999' is no finite number");
    EXPECT_EQ(obj_error("v 0 0x1 0\n"), "mesh.obj:1: '0x1' is no finite number");
    EXPECT_EQ(obj_error("v 0 +-1 0\n"), "mesh.obj:1: '+-1' is no finite number");
    EXPECT_EQ(obj_error(v + "f 1 2\n"), "mesh.obj:4: a face with 2 corners");
    EXPECT_EQ(obj_error(v + "f 1 2 4\n"), "mesh.obj:4: there is no vertex 4; the file has 3");
    EXPECT_EQ(obj_error(v + "f 0 2 3\n"), "mesh.obj:4: there is no vertex 0; indices start at 1");
    EXPECT_EQ(obj_error(v + "f -4 2 3\n"),
              "mesh.obj:4: there is no vertex -4; 3 stand before this line");
    EXPECT_EQ(obj_error("v 0 0 0\nf -2 1 1\n" + v),
              "mesh.obj:2: there is no vertex -2; 1 stand before this line");
    EXPECT_EQ(obj_error(v + "f 1//1 2//1 3//1\n"),
              "mesh.obj:4: there is no normal 1; the file has 0");
    EXPECT_EQ(obj_error(v + "vt 0\nf 1/1 2/1 3/2\n"),
              "mesh.obj:5: there is no texture coordinate 2; the file has 1");
    EXPECT_EQ(obj_error(v + "vt 0\nf 1/1 2 3/1\n"),
              "mesh.obj:5: corners of different forms in one face");
    EXPECT_EQ(obj_error(v + "vt 0\nf 1 2 3/1\n"),
              "mesh.obj:5: corners of different forms in one face");
    EXPECT_EQ(obj_error(v + "f 1/ 2/ 3/\n"), "mesh.obj:4: '' is no index of a texture coordinate");
    EXPECT_EQ(obj_error(v + "f 1// 2// 3//\n"), "mesh.obj:4: '' is no index of a normal");
    EXPECT_EQ(obj_error(v + "f 1/1/1/1 2 3\n").substr(0, 11), "mesh.obj:4:");
    EXPECT_EQ(obj_error(v + "f 1.0 2 3\n"), "mesh.obj:4: '1.0' is no index of a vertex");
    EXPECT_EQ(obj_error(v + "f 99999999999999999999 2 3\n"),
              "mesh.obj:4: '99999999999999999999' is no index of a vertex");
    EXPECT_EQ(obj_error(v + "curv 1 2 3\n"),
              "mesh.obj:4: 'curv' is no statement of an OBJ file of polygons");
}

TEST(Ply, AsciiWithPropertiesInAnyOrder) {
    const Mesh mesh =
        ply("ply\nformat ascii 1.0\ncomment made by hand\nobj_info x\nelement material 2\n"
            "property list uchar float factors\nelement vertex 4\nproperty float nz\n"
            "property double z\nproperty uchar red\nproperty float nx\nproperty float32 y\n"
            "property int8 x\nproperty float ny\nelement face 2\nproperty uchar flag\n"
            "property list uint8 int16 vertex_index\nproperty list int float texture\nend_header\n"
            "2 0.5 nan\n0\n"
            "1 0 255 0 0 0 0\n 1  0.5 0 0 0 1 0\n\n0 0 0 5 1 -1 0\n0 0 0 0 2 1 2\n"
            "1 3 0 1 2 2 0.5 0.5\n0 4 0 2 3 1 0\n\n");
    EXPECT_EQ(mesh.vertices, (std::vector<Vector3>{{0, 0, 0}, {1, 0, 0.5}, {-1, 1, 0}, {1, 2, 0}}));
    EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {0, 3, 1}}));
    EXPECT_EQ(mesh.normals, (std::vector<Vector3>{{0, 0, 1}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}}));
    EXPECT_EQ(mesh.normal_triangles, mesh.triangles);
}

template <class Count, class Index>
void check_binary(const std::string& count_type, const std::string& index_type) {
    for (const bool big : {false, true}) {
        std::string bytes = fmt::format(
            "ply\r\nformat binary_{}_endian 1.0\r\nelement vertex 3\r\nproperty float x\r\n"
            "property short skipped\r\nproperty double y\r\nproperty uchar z\r\nelement other 2\r\n"
            "property list uchar ushort a\r\nelement face 1\r\nproperty list {} {} "
            "vertex_indices\r\nproperty float quality\r\nend_header\r\n",
            big ? "big" : "little", count_type, index_type);
        const float x[] = {-1.5f, 2, 1e-3f};
        const double y[] = {0.1, -7, 3e8};
        const uint8_t z[] = {0, 200, 255};
        for (int i = 0; i < 3; ++i)
            bytes += raw(x[i], big) + raw(int16_t{-1}, big) + raw(y[i], big) + raw(z[i], big);
        bytes += raw(uint8_t{2}, big) + raw(uint16_t{1}, big) + raw(uint16_t{2}, big);
        bytes += raw(uint8_t{0}, big);
        bytes += raw(Count{3}, big) + raw(Index{2}, big) + raw(Index{0}, big) + raw(Index{1}, big);
        bytes += raw(std::nanf(""), big);
        const Mesh mesh = ply(bytes);
        EXPECT_EQ(mesh.triangles, (std::vector<Triangle>{{2, 0, 1}})) << index_type;
        for (std::size_t i = 0; i < 3; ++i)
            EXPECT_EQ(mesh.vertices[i], (Vector3{x[i], y[i], static_cast<double>(z[i])}));
        EXPECT_TRUE(mesh.normals.empty());
        // Cut anywhere, it is refused; so is a byte more.
        for (std::size_t size = 0; size < bytes.size(); ++size)
            EXPECT_NE(ply_error(bytes.substr(0, size)), "") << size;
        EXPECT_NE(ply_error(bytes + "\n").find("1 bytes after the last element"),
                  std::string::npos);
    }
}

TEST(Ply, BinaryOfBothByteOrdersAndAnyTypeOfIndices) {
    check_binary<uint8_t, int8_t>("uchar", "char");
    check_binary<int8_t, uint8_t>("int8", "uint8");
    check_binary<uint16_t, int16_t>("ushort", "short");
    check_binary<int16_t, uint16_t>("int16", "uint16");
    check_binary<uint32_t, int32_t>("uint", "int");
    check_binary<int32_t, uint32_t>("int32", "uint32");
}

TEST(Ply, ErrorsNameTheLineOrByte) {
    const std::string start = "ply\nformat ascii 1.0\n";
    const std::string vertex =
        "element vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
    const std::string face = "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
    const std::string head = start + vertex + face;  // 9 lines
    const std::string points = "0 0 0\n1 0 0\n0 1 0\n";
    EXPECT_EQ(ply_error(head + points + "3 0 1 2"), "");
    EXPECT_EQ(ply_error("plx\n"), "mesh.ply:1: is not a PLY file");
    EXPECT_EQ(ply_error("ply\nformat ascii 1.1\n"),
              "mesh.ply:2: only the formats of PLY 1.0 are known");
    EXPECT_EQ(ply_error("ply\nformat binary 1.0\n"),
              "mesh.ply:2: 'binary' is no format of a PLY file");
    EXPECT_EQ(ply_error("ply\nelement vertex 1\n"), "mesh.ply:2: the header has no end_header");
    EXPECT_EQ(ply_error("ply\nend_header\n"), "mesh.ply:2: the header has no format");
    EXPECT_EQ(ply_error(start + "end_header\n"), "mesh.ply:3: the header has no element vertex");
    EXPECT_EQ(ply_error(start + vertex + "end_header\n"),
              "mesh.ply:7: the header has no element face");
    EXPECT_EQ(ply_error(start + "element vertex -1\n"),
              "mesh.ply:3: '-1' is no number of elements");
    EXPECT_EQ(ply_error(start + "element vertex 1e3\n"),
              "mesh.ply:3: '1e3' is no number of elements");
    EXPECT_EQ(ply_error(start + "property float x\n"),
              "mesh.ply:3: a property before the first element");
    EXPECT_EQ(ply_error(start + "element a 1\nproperty half x\n"),
              "mesh.ply:4: 'half' is no type of a property");
    EXPECT_EQ(ply_error(start + "element a 1\nproperty list float int x\n"),
              "mesh.ply:4: the number of a list's entries is a whole one");
    EXPECT_EQ(ply_error(start + "element a 1\nelement a 1\n"), "mesh.ply:4: a second element a");
    EXPECT_EQ(ply_error(start + vertex + "property int z\n"),
              "mesh.ply:7: a second property z of element vertex");
    EXPECT_EQ(ply_error(start + "element nothing 99999999999\n" + vertex + face),
              "mesh.ply:10: element nothing has no property");
    // Sizes are judged by the file before memory is asked for.
    EXPECT_EQ(ply_error(start +
                        "element vertex 4000000000\nproperty float x\nproperty float y\n"
                        "property float z\n" +
                        face + points),
              "mesh.ply:9: 18 bytes cannot hold 4000000000 elements vertex");
    EXPECT_EQ(ply_error(head + "0 0 0\n1 0 0.00000000\n"),
              "mesh.ply:12: the file ends before all elements vertex are there");
    EXPECT_EQ(ply_error(head + "0 0 0\n1 0\n0 1 0\n3 0 1 2\n"), "mesh.ply:11: no number for z");
    EXPECT_EQ(ply_error(head + "0 0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
              "mesh.ply:10: 1 numbers more than an element vertex has");
    EXPECT_EQ(ply_error(head + "0 0 nan\n1 0 0\n0 1 0\n3 0 1 2\n"),
              "mesh.ply:10: a coordinate of a vertex is nan");
    EXPECT_EQ(ply_error(head + "0 0 x\n1 0 0\n0 1 0\n3 0 1 2\n"), "mesh.ply:10: 'x' is no number");
    EXPECT_EQ(ply_error(head + points + "3 0 1 3\n"),
              "mesh.ply:13: there is no vertex 3; the file has 3");
    EXPECT_EQ(ply_error(head + points + "3 0 1 -1\n"),
              "mesh.ply:13: there is no vertex -1; the file has 3");
    EXPECT_EQ(ply_error(head + points + "3 0 1 2.0\n"),
              "mesh.ply:13: '2.0' is no whole number of 32 bits for vertex_indices");
    EXPECT_EQ(ply_error(head + points + "2 0 1\n"), "mesh.ply:13: a face with 2 corners");
    EXPECT_EQ(ply_error(head + points + "256 0 1\n"),
              "mesh.ply:13: '256' is no whole number of 8 bits for vertex_indices");
    EXPECT_EQ(ply_error(head + points + "4 0 1 2\n"),
              "mesh.ply:13: a list vertex_indices of 4 entries does not fit");
    EXPECT_EQ(ply_error(head + points + "3 0 1 1\n"),
              "mesh.ply: no face has three different vertices");
    EXPECT_EQ(ply_error(head + points + "3 0 1 2\n7\n"),
              "mesh.ply:14: a line after the last element");
    EXPECT_EQ(ply_error(start + vertex + "element face 0\nproperty uchar a\nend_header\n" + points),
              "mesh.ply:9: element face has no list of whole numbers vertex_indices");
    EXPECT_EQ(ply_error(start + "element vertex 1\nproperty float x\nproperty float y\n" + face +
                        "0 0\n3 0 0 0\n"),
              "mesh.ply:8: element vertex has no number z");
    std::string binary = "ply\nformat binary_little_endian 1.0\n" + vertex +
                         "element face 1\nproperty list int int vertex_indices\nend_header\n";
    const std::size_t body = binary.size();
    for (int i = 0; i < 9; ++i) binary += raw(static_cast<float>(i % 4), false);
    EXPECT_EQ(ply_error(binary + raw(int32_t{2000000000}, false) + raw(0, false)),
              fmt::format("mesh.ply: byte {}: a list vertex_indices of 2000000000 entries does not "
                          "fit",
                          body + 40));
    EXPECT_EQ(ply_error(binary + raw(int32_t{-1}, false)),
              fmt::format("mesh.ply: byte {}: a list vertex_indices of -1 entries does not fit",
                          body + 40));
}

TEST(Meshes, AreWrittenAndReadBitForBit) {
    const TemporaryFolder folder;
    Mesh mesh = cube();
    mesh.vertices[3] = {0.1, -1e-17, 123456789.123456789};
    write_ply(folder / "a.ply", mesh);
    const Mesh again = read_mesh(folder / "a.ply");
    EXPECT_EQ(again.vertices, mesh.vertices);
    EXPECT_EQ(again.triangles, mesh.triangles);
    // The content decides, not the name.
    std::filesystem::rename(folder / "a.ply", folder / "a.obj");
    EXPECT_EQ(read_mesh(folder / "a.obj").triangles, mesh.triangles);
    EXPECT_EQ(error_of([&] { read_mesh(folder / "none.obj"); }).code, ExitCode::bad_input);
    EXPECT_EQ(error_of([&] { write_ply(folder / "no/folder.ply", mesh); }).code, ExitCode::io);
}

TEST(Meshes, ACubeHasTheAreaVolumeAndCharacteristicOfACube) {
    Mesh mesh = cube();
    EXPECT_DOUBLE_EQ(area_of(mesh), 6);
    EXPECT_DOUBLE_EQ(volume_of(mesh), 1);
    EXPECT_EQ(euler_characteristic(mesh), 2);
    EXPECT_TRUE(defects_of(mesh).watertight());
    for (Triangle& triangle : mesh.triangles) std::swap(triangle[0], triangle[1]);
    EXPECT_DOUBLE_EQ(volume_of(mesh), -1);
    EXPECT_TRUE(defects_of(mesh).watertight());
}

TEST(Meshes, DefectsAreCounted) {
    Mesh open = cube();
    open.triangles.pop_back();
    EXPECT_EQ(defects_of(open).open_edges, 3);
    EXPECT_FALSE(defects_of(open).watertight());
    Mesh flipped = cube();
    std::swap(flipped.triangles[0][0], flipped.triangles[0][1]);
    EXPECT_EQ(defects_of(flipped).flipped_edges, 3);
    EXPECT_EQ(defects_of(flipped).open_edges, 0);
    Mesh crowded = cube();
    crowded.triangles.push_back(crowded.triangles[0]);
    EXPECT_EQ(defects_of(crowded).crowded_edges, 3);
    // Vertices of their own for every triangle are no seams.
    const Mesh solid = cube();
    Mesh soup;
    for (const Triangle& triangle : solid.triangles) {
        const auto first = static_cast<uint32_t>(soup.vertices.size());
        for (const uint32_t index : triangle) soup.vertices.push_back(solid.vertices[index]);
        soup.triangles.push_back({first, first + 1, first + 2});
    }
    soup.vertices[0][0] = -0.0;
    EXPECT_TRUE(defects_of(soup).watertight());
    EXPECT_EQ(euler_characteristic(soup), 2);
}

TEST(Meshes, NormalizeFillsTheBoxButTheMargin) {
    Mesh mesh =
        obj("v 10 20 0\nv 14 20 0\nv 10 21 0\nv 10 20 2\nv 900 0 0\n"
            "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
    const Placement placement = normalize(mesh, 0.25);
    EXPECT_DOUBLE_EQ(placement.scale, 1.5 / 4);
    EXPECT_EQ(placement.center, (Vector3{12, 20.5, 1}));  // the lone vertex does not count
    EXPECT_DOUBLE_EQ(mesh.vertices[0][0], -0.75);
    EXPECT_DOUBLE_EQ(mesh.vertices[1][0], 0.75);
    EXPECT_DOUBLE_EQ(mesh.vertices[3][2], 0.375);
    for (const char* size : {"0", "1e308"}) {
        Mesh bad = obj(fmt::format("v {0} 0 0\nv -{0} 0 0\nv 0 0 0\nf 1 2 3\n", size));
        EXPECT_NE(error_of([&] { normalize(bad, 0.1); }).text.find("cannot be scaled"),
                  std::string::npos)
            << size;
    }
}

TEST(SurfaceSampler, IsUniformByAreaWithTheNormalsOfTheTriangles) {
    // Four sides of a box of 1 x 2 x 3 have the areas 2, 3 and 6; moments are those of each side.
    Mesh mesh = cube();
    for (Vector3& vertex : mesh.vertices) vertex = {vertex[0], 2 * vertex[1], 3 * vertex[2]};
    const SurfaceSampler sampler(mesh);
    constexpr int64_t count = 60000;
    const SurfacePoints sample = sampler.sample(count, {7, RandomStream::points, 3});
    const auto points = sample.points.to_vector<double>();
    const auto normals = sample.normals.to_vector<double>();
    std::array<int64_t, 3> sides{};
    double first = 0, second = 0;  // of x on the sides across z
    const double size[] = {1, 2, 3};
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < 3; ++k) {
            const double normal = normals[3 * i + k];
            if (std::abs(normal) < 0.5) continue;
            EXPECT_EQ(std::abs(normal), 1);
            EXPECT_NEAR(points[3 * i + k], normal > 0 ? size[k] : 0, 1e-15);
            ++sides[k];
            if (k == 2) {
                first += points[3 * i];
                second += points[3 * i] * points[3 * i];
            }
        }
    EXPECT_EQ(sides[0] + sides[1] + sides[2], count);
    EXPECT_NEAR(static_cast<double>(sides[0]) / count, 6.0 / 11, 0.01);
    EXPECT_NEAR(static_cast<double>(sides[1]) / count, 3.0 / 11, 0.01);
    EXPECT_NEAR(first / static_cast<double>(sides[2]), 1.0 / 2, 0.015);
    EXPECT_NEAR(second / static_cast<double>(sides[2]), 1.0 / 3, 0.015);
}

TEST(SurfaceSampler, IsAFunctionOfTheKeyForAnyNumberOfThreads) {
    const SurfaceSampler sampler(cube());
    const RandomKey key{1, RandomStream::points, 2};
    const int before = thread_count();
    set_thread_count(1);
    const auto one = sampler.sample(10001, key).points.to_vector<double>();
    set_thread_count(3);
    EXPECT_EQ(sampler.sample(10001, key).points.to_vector<double>(), one);
    set_thread_count(before);
    EXPECT_NE(sampler.sample(10001, {1, RandomStream::points, 3}).points.to_vector<double>(), one);
    const auto fewer = sampler.sample(7, key).points.to_vector<double>();
    EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), one.begin()));
}

TEST(SurfaceSampler, InterpolatesTheNormalsOfTheFile) {
    const Mesh mesh =
        obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 5\nvn 1 0 0\nvn 0 1 0\n"
            "f 1//1 2//2 3//3\n");
    const SurfacePoints sample = SurfaceSampler(mesh, SurfaceSampler::Normals::file)
                                     .sample(100, {1, RandomStream::points, 0});
    const auto points = sample.points.to_vector<double>();
    const auto normals = sample.normals.to_vector<double>();
    for (std::size_t i = 0; i < 100; ++i) {
        const double x = points[3 * i], y = points[3 * i + 1], z = 1 - x - y;
        const double size = std::sqrt(x * x + y * y + z * z);
        EXPECT_NEAR(normals[3 * i], x / size, 1e-14);
        EXPECT_NEAR(normals[3 * i + 1], y / size, 1e-14);
        EXPECT_NEAR(normals[3 * i + 2], z / size, 1e-14);
    }
    // Where they cancel or are 0, that of the triangle.
    const Mesh zero = obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 0\nf 1//1 2//1 3//1\n");
    EXPECT_EQ(SurfaceSampler(zero, SurfaceSampler::Normals::file)
                  .sample(1, {1, RandomStream::points, 0})
                  .normals.to_vector<double>(),
              (std::vector<double>{0, 0, 1}));
    EXPECT_NE(error_of([] { SurfaceSampler(cube(), SurfaceSampler::Normals::file); }).text, "");
    EXPECT_NE(error_of([] { SurfaceSampler(obj("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")); }).text,
              "");
}

}  // namespace
}  // namespace ralimp
