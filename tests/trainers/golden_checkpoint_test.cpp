// Checkpoints that earlier programs wrote: each format version stays readable, its model computes
// what it did, and its training goes on. tests/golden/make_checkpoint_golden makes them.
#include <gtest/gtest.h>

#include <cmath>

#include "data/number_table.h"
#include "layers/parameters.h"
#include "tests/error_of.h"
#include "tests/temporary_folder.h"
#include "tests/trainers/training_testing.h"
#include "trainers/config.h"
#include "trainers/pinn.h"

namespace ralimp {
namespace {

std::string golden(int64_t version, const std::string& ending) {
    return fmt::format("{}/tests/golden/checkpoint_format_{}.{}", SOURCE_DIR, version, ending);
}

// nerfstudio#3683: a newer program refused what an older one had saved.
TEST(GoldenCheckpoint, OfEveryFormatVersionHasItsModel) {
    for (int64_t version = 1; version <= checkpoint_format_version; ++version) {
        const Checkpoint checkpoint = read_checkpoint(golden(version, "h5"));
        PinnTask task(std::get<PinnConfig>(read_config_text<RunConfig>(checkpoint.config)),
                      TaskUse::trained_model);
        load_into(named_tensors(task.model()), checkpoint, "model");
        const NumberTable table = read_number_table(golden(version, "csv"));
        const FieldData field = task.predict({{5, 4}, {}});
        std::vector<std::string> columns = field.axes;
        columns.insert(columns.end(), field.names.begin(), field.names.end());
        EXPECT_EQ(columns, table.columns);
        ASSERT_EQ(table.values.shape(), (Shape{20, 5}));
        const auto expected = table.values.to_vector<double>();
        const auto values = field.values.to_vector<double>();
        for (std::size_t row = 0; row < 20; ++row)
            for (std::size_t column = 0; column < 3; ++column) {
                const double wanted = expected[5 * row + 2 + column];
                EXPECT_NEAR(values[3 * row + column], wanted, 1e-11 * (1 + std::abs(wanted)))
                    << "version " << version << ", row " << row << ", " << field.names[column];
            }
    }
}

TEST(GoldenCheckpoint, OfEveryFormatVersionGoesOn) {
    const NoPrograms no_programs;
    for (int64_t version = 1; version <= checkpoint_format_version; ++version) {
        const TemporaryFolder folder;
        const std::string file = golden(version, "h5");
        const Trained trained = train_in(folder / "run", read_checkpoint(file).config, {}, file);
        EXPECT_EQ(trained.error, "") << version;
        EXPECT_EQ(trained.result.stopped_by, "completed") << version;
        EXPECT_EQ(trained.result.steps, 10) << version;
        ASSERT_EQ(trained.column("step"), (std::vector<double>{7, 8, 9, 10}));
        for (const double loss : trained.column("loss")) EXPECT_TRUE(std::isfinite(loss));
    }
}

}  // namespace
}  // namespace ralimp
