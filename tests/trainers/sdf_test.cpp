// Signed distance fields: the loss against closed forms and differences, figures of fields that are
// known, exports in the mesh's own coordinates, refusals, the same bits in pieces.
#include "trainers/sdf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "autograd/gradcheck.h"
#include "autograd/operations.h"
#include "core/file.h"
#include "core/parallel.h"
#include "data/image.h"
#include "layers/parameters.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/objective.h"
#include "trainers/plot.h"
#include "trainers/signals.h"

namespace ralimp {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<SdfTask> task_of(const std::string& yaml) {
    return std::make_unique<SdfTask>(read_config_text<SdfConfig>(yaml));
}

void write_text(const std::string& path, const std::string& text) {
    write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

// A square in the plane z = 5, x from 10 to 14.
std::string square_in(const TemporaryFolder& folder) {
    write_text(folder / "square.obj",
               "v 10 20 5\nv 14 20 5\nv 14 24 5\nv 10 24 5\nvn 0 0.6 0.8\nf 1//1 2//1 3//1 4//1\n");
    return folder / "square.obj";
}

// One sine so slow that the field is amplitude · (a x + b y + c z) + offset to 1e-6.
std::unique_ptr<SdfTask> linear_field(const std::string& yaml, const Vector3& direction,
                                      double offset = 0) {
    auto task = task_of(
        "precision: float64\nnetwork: {hidden_layers: 1, width: 1, first_omega: 1}\n" + yaml);
    constexpr double slow = 1e-3;
    int64_t found = 0;
    for (const auto& [name, tensor] : named_tensors(task->model())) {
        ++found;
        if (tensor.elements() == 3)
            for (int64_t k = 0; k < 3; ++k)
                tensor.data<double>()[k] = slow * direction[static_cast<std::size_t>(k)];
        else if (name.find("weight") != std::string::npos)
            tensor.fill(1 / slow);
        else
            tensor.fill(0);
    }
    EXPECT_EQ(found, 4);
    // The output's bias is the last of all.
    named_tensors(task->model()).back().second.fill(offset);
    return task;
}

double figure(SdfTask& task, const std::string& wanted) {
    for (const auto& [name, value] : task.evaluate())
        if (name == wanted) return value;
    ADD_FAILURE() << "no figure " << wanted;
    return 0;
}

Tensor random_channels(int64_t rows) {
    const auto plan = JetPlan::make({{0}, {1}, {2}});
    Tensor channels =
        random_normal({plan->channels(), rows, 1}, {4, RandomStream::user, 1}, DType::float64);
    // Away from the kink of |f|.
    return channels + where(less(channels, Tensor::scalar(0, DType::float64)),
                            Tensor::scalar(-0.1, DType::float64),
                            Tensor::scalar(0.1, DType::float64));
}

TEST(SdfLoss, TermsAreThoseOfTheFormulas) {
    constexpr int64_t on = 3, rows = 7;
    const auto plan = JetPlan::make({{0}, {1}, {2}});
    const Jet f(random_channels(rows), plan);
    const Tensor normals = Tensor::from<double>({1, 0, 0, 0, 0.6, 0.8, 0, 0, -1}, {on, 3});
    const double alpha = 3;
    const SdfTerms terms = sdf_terms(f, normals, alpha, 6, 8);
    const auto value = f.value().to_vector<double>();
    const auto n = normals.to_vector<double>();
    double surface = 0, normal = 0, eikonal = 0, off_surface = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        double g[3], size = 0, product = 0;
        for (int k = 0; k < 3; ++k) {
            g[k] = f.derivative({k}).to_vector<double>()[i];
            size += g[k] * g[k];
            if (i < on) product += g[k] * n[3 * i + static_cast<std::size_t>(k)];
        }
        size = std::sqrt(size);
        eikonal += (size - 1) * (size - 1) / 14;
        if (i < on) {
            surface += std::abs(value[i]) / 6;
            normal += (1 - product / size) / 6;
        } else {
            off_surface += std::exp(-alpha * std::abs(value[i])) / 8;
        }
    }
    EXPECT_NEAR(terms.surface.item(), surface, 1e-12);
    EXPECT_NEAR(terms.normal.item(), normal, 1e-10);
    EXPECT_NEAR(terms.eikonal.item(), eikonal, 1e-10);
    EXPECT_NEAR(terms.off_surface.item(), off_surface, 1e-12);
}

TEST(SdfLoss, GradientsOfEveryTermAgreeWithDifferences) {
    const auto plan = JetPlan::make({{0}, {1}, {2}});
    const Tensor normals = Tensor::from<double>({1, 0, 0, 0, 0.6, 0.8, 0, 0, -1}, {3, 3});
    EXPECT_EQ(gradcheck(
                  [&](const Tensors& inputs) {
                      const SdfTerms t = sdf_terms(Jet(inputs[0], plan), normals, 3, 3, 4);
                      return Tensors{t.surface, t.normal, t.eikonal, t.off_surface};
                  },
                  {random_channels(7)}),
              "");
}

TEST(SdfLoss, AGradientOfZeroHasAFiniteLoss) {
    const auto plan = JetPlan::make({{0}, {1}, {2}});
    const Tensor channels = requires_grad(Tensor::zeros({plan->channels(), 4, 1}));
    const Tensor normals = Tensor::from<float>({1, 0, 0, 0, 1, 0}, {2, 3});
    const SdfTerms t = sdf_terms(Jet(channels, plan), normals, 100, 2, 2);
    const Tensor total = t.surface + t.normal + t.eikonal + t.off_surface;
    EXPECT_TRUE(std::isfinite(total.item()));
    for (const double g : grad(total, channels).to_doubles()) EXPECT_TRUE(std::isfinite(g));
}

// Weights, parts and the network together: more rows than a part, of both kinds an odd number.
TEST(SdfLoss, TheGradientOfATaskAgreesWithDifferences) {
    const auto task = task_of(
        "precision: float64\nnetwork: {hidden_layers: 2, width: 6, omega: 3, first_omega: 3}\n"
        "points: {surface: 1501, off_surface: 1003}\n"
        "loss: {surface_weight: 7, normal_weight: 3, eikonal_weight: 2, off_surface_weight: 5, "
        "alpha: 4}\n");
    ASSERT_GT(task->parts(), 1);
    task->set_batch(3);
    const Parameters parameters(task->model());
    const ObjectiveValues values = evaluate_objective(*task, parameters);
    double weighted = 0;
    const std::map<std::string, double> weights{
        {"surface", 7}, {"normal", 3}, {"eikonal", 2}, {"off_surface", 5}};
    for (const auto& [name, value] : values.loss)
        if (name != "loss") weighted += weights.at(name) * value;
    EXPECT_NEAR(values.loss[0].second, weighted, 1e-12 * weighted);
    const auto gradient = values.gradient.to_vector<double>();
    auto* p = parameters.values().data<double>();
    for (int64_t i = 0; i < parameters.count(); i += 5) {
        const double before = p[i], step = 1e-6;
        p[i] = before + step;
        const double above = loss_values(*task)[0].second;
        p[i] = before - step;
        const double below = loss_values(*task)[0].second;
        p[i] = before;
        EXPECT_NEAR(gradient[static_cast<std::size_t>(i)], (above - below) / (2 * step),
                    2e-6 * std::max(1.0, std::abs(gradient[static_cast<std::size_t>(i)])))
            << i;
    }
}

TEST(SdfTask, BatchesAreFunctionsOfSeedAndStep) {
    const auto loss = [](SdfTask& task, int64_t step) {
        task.set_batch(step);
        return loss_values(task)[0].second;
    };
    const auto a =
        task_of("seed: 4\nnetwork: {width: 8}\npoints: {surface: 50, off_surface: 40}\n");
    const double first = loss(*a, 7), other = loss(*a, 8);
    EXPECT_NE(first, other);
    EXPECT_EQ(loss(*a, 7), first);
    const auto b =
        task_of("seed: 4\nnetwork: {width: 8}\npoints: {surface: 50, off_surface: 40}\n");
    EXPECT_EQ(loss(*b, 8), other);
}

TEST(SdfTask, FiguresOfAPlaneAreItsAnglesAndSlopes) {
    const TemporaryFolder folder;
    const std::string data = fmt::format(
        "data: {{mesh: {}, margin: 0.2}}\nevaluation: {{points: 4000}}\n", square_in(folder));
    const auto exact = linear_field(data, {0, 0, 1});
    EXPECT_EQ(exact->metric_names(), (std::vector<std::string>{"surface_distance", "surface_error",
                                                               "normal_angle", "gradient_error"}));
    EXPECT_NEAR(figure(*exact, "surface_error"), 0, 1e-9);
    EXPECT_NEAR(figure(*exact, "surface_distance"), 0, 1e-9);
    EXPECT_NEAR(figure(*exact, "normal_angle"), 0, 1e-4);
    EXPECT_NEAR(figure(*exact, "gradient_error"), 0, 1e-6);
    // Tilted and twice as steep: |x| is 0.4 in the mean on a square of the side 1.6.
    const auto tilted = linear_field(data, {1.2, 0, 1.6});
    EXPECT_NEAR(figure(*tilted, "surface_error"), 1.2 * 0.4, 0.01);
    EXPECT_NEAR(figure(*tilted, "surface_distance"), 0.6 * 0.4, 0.005);
    EXPECT_NEAR(figure(*tilted, "normal_angle"), std::acos(0.8) * 180 / std::numbers::pi, 1e-4);
    EXPECT_NEAR(figure(*tilted, "gradient_error"), 1, 1e-5);
    // The normals of the file lie elsewhere.
    const auto other = linear_field(
        fmt::format("data: {{mesh: {}, normals: file}}\n", square_in(folder)), {0, 0, 1});
    EXPECT_NEAR(figure(*other, "normal_angle"), std::acos(0.8) * 180 / std::numbers::pi, 1e-4);
}

TEST(SdfTask, OfASolidTheDistanceIsCompared) {
    // |z - (|p| - 0.7)| in the mean over the cube, by a sum over a fine grid.
    double mean = 0;
    constexpr int side = 60;
    for (int i = 0; i < side * side * side; ++i) {
        const auto at = [](int k) { return (2.0 * k + 1) / side - 1; };
        const double x = at(i % side), y = at(i / side % side), z = at(i / side / side);
        mean += std::abs(z - (std::hypot(x, y, z) - 0.7)) / (side * side * side);
    }
    const auto task = linear_field("data: {solid: sphere}\n", {0, 0, 1});
    EXPECT_EQ(task->metric_names()[0], "distance_error");
    EXPECT_NEAR(figure(*task, "distance_error"), mean, 0.01);
    EXPECT_FALSE(task->larger_is_better());
}

TEST(SdfTask, MeshesThatAreNoSolidsAreWarnedOf) {
    const TemporaryFolder folder;
    const auto warnings = [&](const std::string& faces) {
        write_text(folder / "mesh.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n" + faces);
        std::string text;
        for (const std::string& line :
             task_of(
                 fmt::format("network: {{width: 4}}\ndata: {{mesh: {}}}\n", folder / "mesh.obj"))
                 ->remarks())
            if (line.starts_with("warning: ")) text += line;
        return text;
    };
    EXPECT_EQ(warnings("f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"), "");
    EXPECT_NE(warnings("f 1 2 3\nf 1 4 2\nf 2 4 3\nf 1 3 4\n").find("inside out"),
              std::string::npos);
    EXPECT_NE(warnings("f 1 3 2\nf 1 2 4\nf 2 3 4\n").find("3 edges with one triangle"),
              std::string::npos);
    EXPECT_NE(warnings("f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 3 4\n").find("3 between triangles of opp"),
              std::string::npos);
}

TEST(SdfTask, SaysItsWeights) {
    const auto lines =
        task_of("network: {width: 4}\nloss: {normal_weight: 12.5, alpha: 3}\n")->remarks();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0], "loss: 3000 surface + 12.5 normal + 50 eikonal + 100 off_surface, alpha 3");
}

TEST(SdfTask, RefusesWhatItCannotUse) {
    const TemporaryFolder folder;
    const auto thrown = [&](const std::string& yaml) {
        return error_of([&] { task_of("network: {width: 4}\n" + yaml); });
    };
    const Thrown missing = thrown(fmt::format("data: {{mesh: {}}}\n", folder / "none.obj"));
    EXPECT_EQ(missing.code, ExitCode::bad_input);
    EXPECT_NE(missing.text.find("none.obj"), std::string::npos);
    write_text(folder / "line.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    const Thrown line = thrown(fmt::format("data: {{mesh: {}}}\n", folder / "line.obj"));
    EXPECT_EQ(line.code, ExitCode::bad_input);
    EXPECT_NE(line.text.find("line.obj: the area of the mesh is 0"), std::string::npos);
    const Thrown normals =
        thrown(fmt::format("data: {{mesh: {}, normals: file}}\n", folder / "line.obj"));
    EXPECT_EQ(normals.code, ExitCode::bad_config);
    EXPECT_NE(normals.text.find("data.normals: file: "), std::string::npos);
    EXPECT_NE(thrown("data: {normals: file}\n").text.find("only a mesh has a file"),
              std::string::npos);
    EXPECT_EQ(thrown("loss: {alpha: -1}\n").code, ExitCode::bad_config);
    EXPECT_EQ(thrown("points: {surface: 0}\n").code, ExitCode::bad_config);
    EXPECT_EQ(thrown("data: {margin: 1}\n").code, ExitCode::bad_config);
}

TEST(SdfExport, IsInTheCoordinatesOfTheMesh) {
    const TemporaryFolder folder;
    const auto task = linear_field(
        fmt::format("data: {{mesh: {}, margin: 0.2}}\n", square_in(folder)), {0, 0, 1});
    std::vector<std::string> said;
    task->export_mesh({folder / "out.ply", 5, 1},
                      [&](const std::string& line) { said.push_back(line); });
    const Mesh mesh = read_mesh(folder / "out.ply");
    // [-1, 1] is 4 / 1.6 times as long as the square.
    const Box box = bounding_box(mesh);
    EXPECT_NEAR(box.lower[0], 12 - 2.5, 1e-12);
    EXPECT_NEAR(box.upper[1], 22 + 2.5, 1e-12);
    for (const Vector3& vertex : mesh.vertices) EXPECT_NEAR(vertex[2], 5, 1e-9);
    EXPECT_NEAR(area_of(mesh), 25, 1e-9);
    ASSERT_GE(said.size(), 3u);
    EXPECT_EQ(said[0], "5 x 5 x 5 cubes: 216 evaluations of the network, about 4e-05 GB of memory");
    EXPECT_NE(said[2].find("not watertight: 20 edges with one triangle (the surface leaves the box "
                           "[-1, 1]^3 of the training and is cut there), 0 with more"),
              std::string::npos)
        << said[2];
    EXPECT_EQ(said.back(), folder / "out.ply");
}

TEST(SdfExport, RefusesWhatIsTooLargeAndWhatHasNoSurface) {
    const TemporaryFolder folder;
    const auto task = linear_field("data: {solid: sphere}\n", {0, 0, 0.5}, 3);
    const auto thrown = [&](int64_t resolution, double gigabytes) {
        return error_of([&] {
            task->export_mesh({folder / "out.ply", resolution, gigabytes},
                              [](const std::string&) {});
        });
    };
    const Thrown large = thrown(1600, 0.5);
    EXPECT_EQ(large.code, ExitCode::bad_config);
    EXPECT_NE(large.text.find("4.1e+09 evaluations of the network, about "), std::string::npos)
        << large.text;
    EXPECT_NE(large.text.find("more than 0.5 GB; --memory GB allows more, --resolution N"),
              std::string::npos);
    const Thrown none = thrown(8, 1);
    EXPECT_EQ(none.text, "no surface: the values lie between 2.5 and 3.5");
    EXPECT_EQ(none.code, ExitCode::failure);
    EXPECT_FALSE(fs::exists(folder / "out.ply"));
    const Thrown folder_missing = error_of([&] {
        linear_field("", {0, 0, 1})
            ->export_mesh({folder / "no/out.ply", 4, 1}, [](const std::string&) {});
    });
    EXPECT_EQ(folder_missing.code, ExitCode::io);
}

TEST(SdfExport, OtherTasksHaveNoSurface) {
    const auto task = make_task(read_config_text<RunConfig>("kind: siren\ndata: {size: [4, 4]}\n"));
    const Thrown thrown = error_of([&] { task->export_mesh({}, [](const std::string&) {}); });
    EXPECT_EQ(thrown.code, ExitCode::bad_config);
    EXPECT_EQ(thrown.text,
              "export: surfaces are those of sdf runs, not siren; --format safetensors, onnx or "
              "hdf5 writes its network");
}

TEST(SdfExport, StopsOnASignal) {
    const TemporaryFolder folder;
    const auto task = linear_field("", {0, 0, 1});
    const StopSignals signals;
    EXPECT_THROW(task->export_mesh({folder / "out.ply", 64, 1},
                                   [](const std::string&) { std::raise(SIGTERM); }),
                 Interrupted);
    EXPECT_FALSE(fs::exists(folder / "out.ply"));
}

std::string small_run(int steps, int threads, const std::string& data = "{solid: sphere}") {
    return fmt::format(
        "kind: sdf\nthreads: {}\ndata: {}\npoints: {{surface: 900, off_surface: 800}}\n"
        "network: {{hidden_layers: 2, width: 16, omega: 5, first_omega: 5}}\n"
        "evaluation: {{points: 500}}\n"
        "training: {{phases: [{{steps: {}, optimizer: {{kind: adam, learning_rate: 3e-3}}}}], "
        "log_every: 1, evaluate_every: 4}}\n",
        threads, data, steps);
}

TEST(SdfTraining, InPiecesAndOnOtherThreadsGivesTheSameBits) {
    const NoPrograms no_programs;
    const TemporaryFolder folder;
    for (const std::string& data : {std::string("{solid: torus_and_sphere}"),
                                    fmt::format("{{mesh: {}}}", square_in(folder))}) {
        const int before = thread_count();
        const TemporaryFolder straight, cut;
        set_thread_count(1);
        const Trained whole = train_in(fs::path(straight.path()) / "run", small_run(12, 1, data));
        train_in(fs::path(cut.path()) / "run", small_run(5, 1, data));
        set_thread_count(2);
        const Trained pieces = train_in(fs::path(cut.path()) / "run", small_run(12, 1, data));
        set_thread_count(before);
        EXPECT_EQ(whole.error, "");
        EXPECT_EQ(whole.parameters, pieces.parameters) << data;
        EXPECT_EQ(whole.result.metrics, pieces.result.metrics) << data;
        for (const char* column : {"surface", "normal", "eikonal", "off_surface"})
            EXPECT_EQ(whole.column(column).size(), 12u);
    }
}

TEST(SdfTraining, FindsASphere) {
    const TemporaryFolder folder;
    const Trained trained = train_in(folder.path() / "run", small_run(300, 0));
    ASSERT_EQ(trained.error, "");
    EXPECT_EQ(trained.result.metrics[1].first, "surface_distance");
    EXPECT_LT(trained.result.metrics[1].second, 0.02);
    EXPECT_EQ(trained.result.metrics[3].first, "normal_angle");
    EXPECT_LT(trained.result.metrics[3].second, 8);
    const Image slices = read_image(folder / "run/pictures/slices.png");
    EXPECT_GT(slices.width(), 4 * 300);
}

TEST(PlotFields, DrawALineWhereTheValuesAreZero) {
    const TemporaryFolder folder;
    constexpr int64_t side = 40;
    std::vector<double> values;
    for (int64_t i = 0; i < side * side; ++i)
        values.push_back((static_cast<double>(i % side) + 0.5) / side * 2 - 1 - 0.25);
    Field field{"", Tensor::from(values, {side, side}), 0};
    plot_fields(folder / "without.png", {field}, {"x", -1, 1}, {"y", -1, 1});
    field.zero_level = true;
    plot_fields(folder / "with.png", {field}, {"x", -1, 1}, {"y", -1, 1});
    const Image without = read_image(folder / "without.png"),
                with = read_image(folder / "with.png");
    ASSERT_EQ(without.pixels.shape(), with.pixels.shape());
    const auto a = without.pixels.to_vector<float>(), b = with.pixels.to_vector<float>();
    const int64_t width = with.width(), channels = with.channels();
    int64_t changed = 0, first = width, last = 0;
    for (int64_t i = 0; i < with.height() * width; ++i) {
        if (a[static_cast<std::size_t>(i * channels)] == b[static_cast<std::size_t>(i * channels)])
            continue;
        ++changed;
        first = std::min(first, i % width);
        last = std::max(last, i % width);
    }
    // A column of the plot's height at x = 0.25: left margin 78, width 360.
    EXPECT_GT(changed, 280);
    EXPECT_NEAR(static_cast<double>(first + last) / 2, 78 + 360 * 0.625, 3);
    EXPECT_LE(last - first, 6);
}

}  // namespace
}  // namespace ralimp
