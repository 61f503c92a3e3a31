// The real window and a run that it started: the window is killed, the run goes on, the next window finds and controls it, a third one
// watches until it is its turn. Who controls is asked at the run's own socket.
#include "launch/control_client.h"
#include "ranks_support.h"

namespace mantissa::system_test {
namespace {

/// The process that has the control; 0: nobody.
std::int64_t holder_of(const fs::path& run) {
    auto client = ControlClient::connect(run, ControlRole::Watch);
    if (!client) return -1;
    for (int i = 0; i < 50; ++i) {
        const auto event = client->wait_event(100);
        if (event && event->kind == ControlEvent::Kind::Controller) return event->holder;
    }
    return -1;
}

TEST(Window, its_death_ends_nothing_and_the_next_one_takes_over) {
    Home home;
    home.variables["QT_QPA_PLATFORM"] = "offscreen";
    const fs::path plan = home.write("plan.json", R"({"name": "endless", "model": {"name": "mlp"}, "dataset": {"name": "digits"}, "device": "cpu",
        "modes": ["no"], "launch": {"scope": "ranks", "processes": 2}, "training": {"max_steps": 500000}})");
    const auto window = [&](const std::vector<std::string>& words) {
        home.program = MANTISSA_WORKBENCH;
        auto started = std::make_unique<Started>(home, words);
        home.program = MANTISSA_PROGRAM_FILE;
        return started;
    };
    auto first = window({"--compare", plan.string()});
    ASSERT_TRUE(eventually(patience, [&] { return recorded_steps(home) >= 15; })) << first->wait(std::chrono::seconds(1)).err;
    const fs::path run = home.run_folders().front();
    ASSERT_TRUE(eventually(patience, [&] { return holder_of(run) == first->pid(); }));
    first->send(SIGKILL);
    first.reset();
    EXPECT_TRUE(eventually(patience, [&] { return holder_of(run) == 0; }));
    const long then = recorded_steps(home);
    EXPECT_TRUE(eventually(patience, [&] { return recorded_steps(home) > then + 15; }));  // it goes on

    auto second = window({});  // nothing asked for: it finds what runs
    ASSERT_TRUE(eventually(patience, [&] { return holder_of(run) == second->pid(); }));
    auto third = window({"--open", run.string()});
    // A shell is obeyed while windows are there, and told so.
    const auto paused = home.run({"runs", "control", run.string(), "pause"});
    EXPECT_EQ(paused.code, 0) << paused.err;
    EXPECT_THAT(paused.out, HasSubstr("(a window controls it too: process " + std::to_string(second->pid()) + ")"));
    EXPECT_EQ(holder_of(run), second->pid());
    second->send(SIGTERM);
    second.reset();
    EXPECT_TRUE(eventually(patience, [&] { return holder_of(run) == third->pid(); }));
    EXPECT_EQ(home.run({"runs", "control", run.string(), "stop"}).code, 0);
    EXPECT_TRUE(eventually(patience, [&] { return home.run({"runs", "list", "--json"}).json()["runs"][0]["state"] == "stopped"; }));
    EXPECT_TRUE(eventually(patience, [&] { return workers(home).empty(); }));
}

}  // namespace
}  // namespace mantissa::system_test
