// The question whether work may go on, and who answers it.
#include "core/interruption.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace ralimp {
namespace {

TEST(Interruption, AsksWhatIsInstalledAndNothingElse) {
    EXPECT_NO_THROW(throw_if_interrupted());
    static int asked;
    asked = 0;
    install_interruption_check([] {
        if (++asked == 3) fail("stop");
    });
    EXPECT_NO_THROW(throw_if_interrupted());
    EXPECT_NO_THROW(throw_if_interrupted());
    EXPECT_THROW(throw_if_interrupted(), Error);
    install_interruption_check(nullptr);
    EXPECT_NO_THROW(throw_if_interrupted());
    EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace ralimp
