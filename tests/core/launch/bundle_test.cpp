// Bundles: what is written comes back to the bit; an archive of somebody else can't reach out of its folder, fill the disk or lie.
#include "launch/bundle.h"

#include <sys/stat.h>
#include <zip.h>

#include <iterator>
#include <random>

#include "base/files.h"
#include "launch/incident_states.h"
#include "replay_fixture.h"

namespace mantissa::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Member {
    std::string name, text;
    zip_uint32_t kind = 0;  // of Unix, as S_IFLNK
};

class BundleTest : public ReplayTest {
  protected:
    fs::path scratch(const std::string& name) const { return runs().parent_path() / name; }

    /// A .zip as anybody may make one.
    fs::path archive(const std::vector<Member>& members) const {
        const fs::path file = scratch("made.zip");
        fs::remove(file);
        zip_t* made = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
        for (const Member& one : members) {
            zip_source_t* source = zip_source_buffer(made, one.text.data(), one.text.size(), 0);
            const zip_int64_t index = zip_file_add(made, one.name.c_str(), source, ZIP_FL_ENC_UTF_8);
            EXPECT_GE(index, 0) << one.name;
            if (one.kind != 0) zip_file_set_external_attributes(made, static_cast<zip_uint64_t>(index), 0, ZIP_OPSYS_UNIX, (one.kind | 0777U) << 16);
        }
        EXPECT_EQ(zip_close(made), 0);
        return file;
    }
    /// With what every bundle has, so that only the one thing is wrong.
    fs::path archive_with(const Member& more) const { return archive({{"run/plan.json", "{}"}, {"run/run.db", "x"}, more}); }

    std::string refusal_of(const fs::path& file, const BundleLimits& limits = {}) const {
        const fs::path target = scratch("target");
        const auto unpacked = unpack_bundle(file, target, limits);
        EXPECT_FALSE(unpacked) << file;
        std::error_code ignored;
        EXPECT_TRUE(!fs::exists(target) || fs::is_empty(target, ignored)) << "nothing stays behind";
        if (unpacked) return "";
        EXPECT_EQ(exit_code(unpacked.error().code), 6);
        return unpacked.error().message;
    }
};

TEST_F(BundleTest, WhatIsWrittenComesBackToTheBitAndReplays) {
    const fs::path run = make_run("bundled", 12);
    make_incident(run, 12, {4, 12});
    ASSERT_EQ(replay(run).state, "done");
    const fs::path file = scratch("step.zip");
    const auto written = write_bundle(run / "", 12, file);
    ASSERT_TRUE(written) << describe(written.error());
    EXPECT_TRUE(looks_like_bundle(file));
    EXPECT_FALSE(looks_like_bundle(run / "plan.json"));
    EXPECT_EQ(*bundle_run_name(file), run.filename().string());
    const auto unpacked = unpack_bundle(file, scratch("elsewhere"));
    ASSERT_TRUE(unpacked) << describe(unpacked.error());
    EXPECT_EQ(*unpacked, scratch("elsewhere") / run.filename());
    std::int64_t files = 0, bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(*unpacked)) {
        const fs::path name = entry.path().lexically_relative(*unpacked);
        if (!entry.is_regular_file() || name == "README.txt") continue;
        EXPECT_EQ(*read_file(entry.path()), *read_file(run / name)) << name;
        ++files;
        bytes += static_cast<std::int64_t>(entry.file_size());
    }
    EXPECT_EQ(files, written->files);
    EXPECT_EQ(bytes, written->bytes);
    EXPECT_THAT(*read_file(*unpacked / "README.txt"), HasSubstr("--step 12"));
    EXPECT_FALSE(fs::exists(incident_folder(*unpacked, 12) / "replay.lock"));
    EXPECT_EQ(incident_states(*unpacked).checkpoints.size(), 2u);
    fs::remove_all(run);  // the bundle is enough
    const ReplayReport again = replay(*unpacked);
    EXPECT_EQ(again.reproduced, Reproduced::Bits);
    EXPECT_EQ(again.best, "island");
    // A second run of that name would be mixed with the first.
    EXPECT_THAT(unpack_bundle(file, scratch("elsewhere")).error().message, HasSubstr("is there already"));
}

TEST_F(BundleTest, WhatCantBeWrittenIsASentenceAndLeavesNothing) {
    const fs::path run = make_run("refused", 12);
    make_incident(run, 12, {});
    EXPECT_EQ(write_bundle(run, 12, scratch("step.tar")).error().code, ErrorCode::Usage);
    EXPECT_THAT(write_bundle(run, 12, "/nowhere/step.zip").error().message, HasSubstr("/nowhere/step.zip can't be written"));
    EXPECT_THAT(write_bundle(runs() / "gone", 12, scratch("step.zip")).error().message, HasSubstr("no plan.json"));
    const auto lock = RunLock::take(RunFolder{run});
    ASSERT_TRUE(lock);
    EXPECT_THAT(write_bundle(run, 12, scratch("step.zip")).error().message, HasSubstr("is running"));
    EXPECT_FALSE(fs::exists(scratch("step.zip")));
}

TEST_F(BundleTest, NamesThatLeadOutAreRefused) {
    for (const char* name : {"../escaped", "run/../../escaped", "/escaped", "run//escaped", "run/./escaped", "run\\..\\escaped", "run/c:escaped", "run/a\tb",
                             "run/a/b/c/d/e/f/g/h"})
        EXPECT_NE(refusal_of(archive_with({name, "evil"})), "") << name;
    EXPECT_THAT(refusal_of(archive_with({"/escaped", "evil"})), HasSubstr("is absolute"));
    EXPECT_THAT(refusal_of(archive_with({"run/../../escaped", "evil"})), HasSubstr("leads out of the bundle's folder"));
    EXPECT_FALSE(fs::exists(scratch("escaped")));
    EXPECT_FALSE(fs::exists("/escaped"));
}

TEST_F(BundleTest, LinksAndDevicesAreRefused) {
    EXPECT_THAT(refusal_of(archive_with({"run/link", "/etc/passwd", S_IFLNK})), HasSubstr("\"run/link\" is a link"));
    EXPECT_THAT(refusal_of(archive_with({"run/pipe", "", S_IFIFO})), HasSubstr("neither a file nor a folder"));
}

TEST_F(BundleTest, WhatIsTooMuchIsRefusedBeforeItIsWritten) {
    const fs::path file = archive_with({"run/zeros", std::string(1 << 20, '\0')});
    EXPECT_LT(fs::file_size(file), 4096u) << "a bomb is small";
    EXPECT_THAT(refusal_of(file, {4096, 1000}), HasSubstr("unpacked it is larger than 1.00 kB"));
    EXPECT_THAT(refusal_of(file, {2, 1 << 30}), HasSubstr("it holds 3 files, more than 2"));
}

TEST_F(BundleTest, WhatIsNoBundleIsRefused) {
    EXPECT_THAT(refusal_of(archive({{"run/readme", "hello"}})), HasSubstr("is not a bundle"));
    EXPECT_THAT(refusal_of(archive({{"plan.json", "{}"}, {"run.db", "x"}})), HasSubstr("more than one run folder"));
    EXPECT_THAT(refusal_of(archive_with({"other/run.db", "x"})), HasSubstr("more than one run folder"));
    EXPECT_NE(refusal_of(archive({{"comparisons/plan.json", "{}"}, {"comparisons/run.db", "x"}})), "");
    std::ofstream(scratch("text.zip")) << "PK\x03\x04 and nothing more";
    EXPECT_THAT(refusal_of(scratch("text.zip")), HasSubstr("is no whole .zip file"));
    EXPECT_THAT(refusal_of(scratch("gone.zip")), HasSubstr("can't be read"));
    EXPECT_THAT(refusal_of(scratch(".")), HasSubstr("is not a file"));
}

TEST_F(BundleTest, ABundleThatIsCutOrChangedIsRefused) {
    const fs::path run = make_run("damaged", 12);
    make_incident(run, 12, {12});
    const fs::path file = scratch("step.zip");
    ASSERT_TRUE(write_bundle(run, 12, file));
    const std::string whole = *read_file(file);
    std::ofstream(scratch("cut.zip"), std::ios::binary) << whole.substr(0, whole.size() / 2);
    EXPECT_NE(refusal_of(scratch("cut.zip")), "");
    // One bit of stored weights: the checksum says so.
    std::string changed = whole;
    const auto at = changed.find("weights");
    ASSERT_NE(at, std::string::npos);
    changed[at] ^= 1;
    std::ofstream(scratch("changed.zip"), std::ios::binary) << changed;
    EXPECT_THAT(refusal_of(scratch("changed.zip")), HasSubstr("model.safetensors can't be unpacked"));
    // A size in the directory that is smaller than what comes out.
    std::string lied = *read_file(archive_with({"run/zeros", std::string(1 << 16, '\0')}));
    for (const std::string_view signature : {std::string_view("PK\x01\x02"), std::string_view("PK\x03\x04")}) {
        const bool is_central = signature[2] == '\x01';
        for (std::size_t from = 0; (from = lied.find(signature, from)) != std::string::npos; ++from)
            if (lied.compare(from + (is_central ? 46 : 30), 9, "run/zeros") == 0) lied.replace(from + (is_central ? 24 : 22), 4, std::string("\x10\0\0\0", 4));
    }
    std::ofstream(scratch("lied.zip"), std::ios::binary) << lied;
    EXPECT_NE(refusal_of(scratch("lied.zip")), "");
}

TEST_F(BundleTest, AnyByteMayBeWrong) {
    const std::string whole = *read_file(archive({{"run/plan.json", "{}"}, {"run/run.db", std::string(300, 'x')}, {"run/incidents/step_1/incident.json", "[1, 2]"}}));
    const fs::path file = scratch("wrong.zip"), target = scratch("inner/target");
    fs::create_directories(target);
    std::mt19937 random(7);
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
        std::string changed = whole;
        for (int k = 0; k <= i % 3; ++k) changed[random() % changed.size()] = static_cast<char>(random());
        std::ofstream(file, std::ios::binary | std::ios::trunc) << changed;
        const auto unpacked = unpack_bundle(file, target, {64, 1 << 20});
        if (!unpacked) ++refused;
        EXPECT_TRUE(!unpacked || unpacked->parent_path() == target) << i;
        const auto there = std::distance(fs::directory_iterator(scratch("inner")), fs::directory_iterator());
        EXPECT_LE(there, 1) << i << ": nothing beside the target";
        fs::remove_all(target);
    }
    EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace mantissa::test
