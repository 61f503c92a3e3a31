// `mantissa launch`: Accelerate's flags for one process, in front of a program, a plan or a preset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program.h"
#include "tests/support/processes.h"

namespace mantissa::system_test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What the program saw, one variable a line.
std::vector<std::string> shell(std::vector<std::string> flags) {
    flags.insert(flags.begin(), "launch");
    flags.insert(flags.end(), {"sh", "-c",
                               "echo mode=$ACCELERATE_MIXED_PRECISION cpu=$ACCELERATE_USE_CPU device=$ACCELERATE_TORCH_DEVICE "
                               "steps=$ACCELERATE_GRADIENT_ACCUMULATION_STEPS threads=$OMP_NUM_THREADS "
                               "gpus=$CUDA_VISIBLE_DEVICES debug=$ACCELERATE_DEBUG_MODE"});
    return flags;
}

TEST(CliLaunch, AProgramFindsTheFlagsInItsEnvironment) {
    const Home home;
    const auto ran = home.run(shell({"--mixed-precision", "BF16", "--cpu", "--gradient_accumulation_steps", "4",
                                     "--num_cpu_threads_per_process", "2", "--gpu_ids", "0,1", "--debug", "--no_python"}));
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, "mode=bf16 cpu=true device=cpu steps=4 threads=2 gpus=0,1 debug=1\n");
    EXPECT_THAT(ran.err, HasSubstr("mixed_precision bf16 (flag --mixed_precision)"));
    const auto quiet = home.run(shell({"-q", "--mixed_precision", "fp16"}));
    EXPECT_EQ(quiet.err, "");
    EXPECT_THAT(quiet.out, HasSubstr("mode=fp16 cpu=false device= steps=1"));
}

TEST(CliLaunch, TheProgramsExitCodeAndArgumentsAreItsOwn) {
    const Home home;
    const auto ran = home.run({"launch", "--cpu", "sh", "-c", "echo $1; exit 7", "name", "--mixed_precision"});
    EXPECT_EQ(ran.code, 7);
    EXPECT_EQ(ran.out, "--mixed_precision\n");
}

TEST(CliLaunch, FlagThenEnvironmentThenFileAndTheLosersAreShown) {
    Home home;
    const auto file = home.write("c.yaml", "distributed_type: 'NO'\nmixed_precision: bf16\nuse_cpu: true\n");
    const auto from_file = home.run(shell({"--config_file", file.string()}));
    EXPECT_THAT(from_file.out, HasSubstr("mode=bf16 cpu=true")) << from_file.err;
    home.variables["ACCELERATE_MIXED_PRECISION"] = "fp16";
    const auto from_shell = home.run(shell({"--config_file", file.string()}));
    EXPECT_THAT(from_shell.out, HasSubstr("mode=fp16 cpu=true"));
    EXPECT_THAT(from_shell.err, HasSubstr("doesn't read ACCELERATE_MIXED_PRECISION of the shell: it would train in bf16"));
    const auto from_flag = home.run(shell({"--config_file", file.string(), "--mixed_precision", "no"}));
    EXPECT_THAT(from_flag.out, HasSubstr("mode=no cpu=true"));
    EXPECT_THAT(from_flag.err, HasSubstr("overrules fp16 (environment ACCELERATE_MIXED_PRECISION)"));
    EXPECT_THAT(from_flag.err, Not(HasSubstr("1.15")));
    home.variables["ACCELERATE_TORCH_DEVICE"] = "cuda:3";  // --cpu is stronger here than the variable
    EXPECT_THAT(home.run(shell({"--cpu"})).out, HasSubstr("cpu=true device=cpu"));
}

TEST(CliLaunch, WhatIsNotBuiltOrWrongIsRefused) {
    const Home home;
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{}, "launch needs a target"},
        {{"--multi_gpu", "sh"}, "--multi_gpu trains in several processes, and num_processes is 1"},
        {{"--multi_gpu", "digits-mlp"}, "--multi_gpu trains in several processes, and num_processes is 1"},
        {{"--num_machines", "2", "sh"}, "num_processes is 1, which can't be divided by 2 machines"},
        {{"--num_machines", "2", "--num_processes", "2", "sh"}, "num_machines is 2 and main_process_ip is missing"},
        {{"--num_machines", "2", "--num_processes", "2", "--machine_rank", "2", "--main_process_ip", "host", "sh"},
         "--machine_rank is \"2\""},
        {{"--num_machines", "2", "--num_processes", "2", "--main_process_ip", "host", "--main_process_port", "0", "sh"},
         "the other machines can't know it"},
        {{"--num_processes", "2", "--main_process_port", "65536", "sh"}, "--main_process_port is \"65536\""},
        {{"--num_processes", "2", "no-such-program"}, "can't start no-such-program"},
        {{"--cpu", "--multi_gpu", "sh"}, "contradict each other"},
        {{"--use_fsdp", "sh"}, "--use_fsdp belongs to fully sharded data parallel training"},
        {{"--dynamo-backend", "inductor", "sh"}, "belongs to compilation by TorchDynamo"},
        {{"--mixed_precison", "bf16", "sh"}, "did you mean --mixed_precision?"},
        {{"--mixed_precision", "half", "sh"}, "--mixed_precision"},
        {{"--gpu_ids", "0,,1", "sh"}, "--gpu_ids is \"0,,1\""},
        {{"train.py"}, "is a Python script"},
        {{"-m", "package"}, "names a Python module"},
        {{"no-such-program"}, "can't start no-such-program"},
        {{"digits-cn"}, "did you mean the preset digits-cnn?"},
    };
    for (const auto& [flags, sentence] : cases) {
        std::vector<std::string> command = {"launch"};
        command.insert(command.end(), flags.begin(), flags.end());
        const auto refused = home.run(command);
        EXPECT_EQ(refused.code, 2) << sentence;
        EXPECT_THAT(refused.err, HasSubstr(sentence));
        EXPECT_EQ(refused.out, "") << sentence;
    }
    EXPECT_TRUE(home.run_folders().empty());
}

// What each process of a program saw, sorted.
std::vector<std::string> places(const Outcome& ran) {
    std::vector<std::string> lines;
    std::istringstream text(ran.out);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
}

TEST(CliLaunch, SeveralProcessesFindTheirPlaceInTorchrunsVariables) {
    Home home;
    const std::vector<std::string> program{"sh", "-c",
                                           "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR:$MASTER_PORT "
                                           "$ACCELERATE_MIXED_PRECISION $ACCELERATE_TORCH_DEVICE $OMP_NUM_THREADS"};
    const auto with = [&](std::vector<std::string> flags) {
        flags.insert(flags.begin(), "launch");
        flags.insert(flags.end(), program.begin(), program.end());
        return home.run(flags);
    };
    home.variables["OMP_NUM_THREADS"] = "3";
    const auto three = with({"--num_processes", "3", "--mixed_precision", "bf16", "--cpu", "--main_process_port", "29871"});
    EXPECT_EQ(three.code, 0) << three.err;
    EXPECT_THAT(places(three), testing::ElementsAre("0/3 0/3 0 127.0.0.1:29871 bf16 cpu 3", "1/3 1/3 0 127.0.0.1:29871 bf16 cpu 3",
                                                    "2/3 2/3 0 127.0.0.1:29871 bf16 cpu 3"));
    EXPECT_THAT(three.err, HasSubstr("3 processes, met at 127.0.0.1:29871"));
    // The second of two machines, from Accelerate's file; a flag is stronger.
    const auto file = home.write("c.yaml", "distributed_type: MULTI_CPU\nnum_machines: 2\nmachine_rank: 0\nnum_processes: 4\n"
                                           "main_process_ip: node-1\nmain_process_port: 4711\nmixed_precision: fp16\n");
    const auto second = with({"--config_file", file.string(), "--machine_rank", "1", "--num_cpu_threads_per_process", "2"});
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_THAT(places(second), testing::ElementsAre("2/4 0/2 1 node-1:4711 fp16 2", "3/4 1/2 1 node-1:4711 fp16 2"));
    EXPECT_THAT(second.err, HasSubstr("4 processes on 2 machines, ranks 2 to 3 here, met at node-1:4711"));
    // One GPU each; a port of its own where nobody else must know it.
    const auto gpus = with({"--multi_gpu", "--num_processes", "2", "-q"});
    EXPECT_THAT(places(gpus), testing::ElementsAre(testing::ContainsRegex("0/2 .* 127.0.0.1:[1-9][0-9]+ no cuda:0 3"),
                                                   testing::ContainsRegex("1/2 .* 127.0.0.1:[1-9][0-9]+ no cuda:1 3")));
    EXPECT_EQ(gpus.err, "");
}

TEST(CliLaunch, OneThatEndsBadlyIsNamedAndTheOthersAreEnded) {
    const Home home;
    const auto ran = home.run({"launch", "--num_processes", "3", "sh", "-c", "if [ $RANK = 1 ]; then exit 7; fi; exec sleep 61.7"});
    EXPECT_EQ(ran.code, 7);
    EXPECT_THAT(ran.err, testing::ContainsRegex("mantissa: rank 1 \\(process [0-9]+\\) ended with exit code 7; the other ranks are asked to end"));
    const auto killed = home.run({"launch", "--num_processes", "2", "sh", "-c", "if [ $RANK = 0 ]; then kill -9 $$; fi; exec sleep 61.7"});
    EXPECT_EQ(killed.code, 128 + 9);
    EXPECT_THAT(killed.err, testing::ContainsRegex("rank 0 \\(process [0-9]+\\) was killed by SIGKILL"));
    EXPECT_TRUE(test::processes_with(std::string("sleep") + '\0' + "61.7").empty());
}

TEST(CliLaunch, FlagsWithoutUseAreSaid) {
    const Home home;
    const auto ran = home.run(shell({"--main_process_port", "29501", "--enable_cpu_affinity", "--machine_rank", "0"}));
    EXPECT_EQ(ran.code, 0);
    EXPECT_THAT(ran.err, HasSubstr("note: --main_process_port has no effect"));
    EXPECT_THAT(ran.err, HasSubstr("note: --enable_cpu_affinity has no effect"));
    EXPECT_THAT(ran.err, Not(HasSubstr("--machine_rank has")));
}

TEST(CliLaunch, BehindAPlanComeFlagsOfTrain) {
    const Home home;
    const auto wrong = home.run({"launch", "digits-mlp", "--max-step", "3"});
    EXPECT_EQ(wrong.code, 2);
    EXPECT_THAT(wrong.err, HasSubstr("behind the plan come flags of `mantissa train`"));
    const auto bad = home.run({"launch", "--mixed_precision", "bf16", "digits-mlp", "--set", "training.batch_size=0"});
    EXPECT_EQ(bad.code, 2);
    EXPECT_THAT(bad.err, HasSubstr("training.batch_size"));
}

}  // namespace
}  // namespace mantissa::system_test
