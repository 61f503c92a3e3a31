#include "launch/engine_module.h"

#include <fstream>

#include "base/paths.h"
#include "launch_fixture.h"

namespace mantissa::test {

class EngineModule : public LaunchTest {
  protected:
    static std::string error_of(const fs::path& file) {
        const auto engine = load_engine_from(file);
        EXPECT_FALSE(engine);
        EXPECT_FALSE(engine.error().hint.empty());
        return engine.error().message;
    }
};

TEST_F(EngineModule, a_missing_module_says_where_it_was_looked_for) {
    ::setenv("MANTISSA_ENGINE", "/nowhere/engine.so", 1);
    const auto engine = load_engine();
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().code, ErrorCode::InputOutput);
    EXPECT_NE(engine.error().message.find("/nowhere/engine.so"), std::string::npos);
    EXPECT_NE(engine.error().hint.find("MANTISSA_ENGINE"), std::string::npos);
}

TEST_F(EngineModule, loads_and_sets_the_wait_policy_first) {
    ::unsetenv("OMP_WAIT_POLICY");
    const auto engine = load_engine();
    ASSERT_TRUE(engine) << describe(engine.error());
    EXPECT_STREQ((*engine)->abi, engine_abi);
    EXPECT_STREQ(::getenv("OMP_WAIT_POLICY"), "PASSIVE");
    EXPECT_EQ(*load_engine(), *engine);
}

TEST_F(EngineModule, a_wait_policy_of_the_user_stays) {
    ::setenv("OMP_WAIT_POLICY", "ACTIVE", 1);
    ASSERT_TRUE(load_engine());
    EXPECT_STREQ(::getenv("OMP_WAIT_POLICY"), "ACTIVE");
}

TEST_F(EngineModule, is_looked_for_beside_the_program_first) {
    ::unsetenv("MANTISSA_ENGINE");
    const auto files = engine_candidates();
    ASSERT_GE(files.size(), 2U);
    EXPECT_EQ(files[0], (program_folder() / ".." / "lib" / "libmantissa-engine.so").lexically_normal());
}

TEST_F(EngineModule, a_damaged_file_gives_the_loaders_own_sentence) {
    std::ofstream(folder() / "engine.so") << std::string(5000, '?');
    EXPECT_NE(error_of(folder() / "engine.so").find("invalid ELF header"), std::string::npos);
    std::ofstream(folder() / "empty.so");
    EXPECT_NE(error_of(folder() / "empty.so").find("file too short"), std::string::npos);
}

TEST_F(EngineModule, a_module_of_another_build_is_refused_with_both_texts) {
    const auto message = error_of(FAKE_FOLDER "/fake_engine_other_abi.so");
    EXPECT_NE(message.find("mantissa-engine-0"), std::string::npos);
    EXPECT_NE(message.find(engine_abi), std::string::npos);
}

TEST_F(EngineModule, another_libtorch_is_refused_with_both_versions) {
    const auto message = error_of(FAKE_FOLDER "/fake_engine_other_torch.so");
    EXPECT_NE(message.find("2.1.1"), std::string::npos);
    EXPECT_NE(message.find("2.11"), std::string::npos);
}

TEST_F(EngineModule, a_library_that_is_no_engine_is_refused) {
    EXPECT_NE(error_of("libz.so.1").find("mantissa_engine_api"), std::string::npos);
}

}  // namespace mantissa::test
