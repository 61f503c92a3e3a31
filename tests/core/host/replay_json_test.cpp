#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "host/engine_api.h"

namespace mantissa {
namespace {

TEST(ReplayJson, ARequestComesBackAsItWas) {
    ReplayRequest request;
    request.run = "/runs/a";
    request.plan.name = "half";
    request.plan.mixed_precision = Precision::Fp16;
    request.plan.fp32_islands = {"gate.mul"};
    request.plan.training.optimizer.learning_rate = 0.1 + 0.2;
    request.state = "/runs/a/incidents/step_144/state_94";
    request.step = 144;
    request.change_from = 94;
    request.watch_ops = request.previous_batch = true;
    request.watch_place = "gate.mul";
    request.loss_scale = 1;
    request.later_steps = 20;
    request.keep_state = "/tmp/state_144";
    request.variant.id = "custom";
    request.variant.settings = {"training.seed=8"};
    const auto back = replay_request_from_json(nlohmann::json::parse(to_json(request).dump()));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->run, request.run);
    EXPECT_EQ(back->plan, request.plan);
    EXPECT_EQ(back->state, request.state);
    EXPECT_EQ(back->step, 144);
    EXPECT_EQ(back->change_from, 94);
    EXPECT_TRUE(back->watch_ops);
    EXPECT_TRUE(back->previous_batch);
    EXPECT_EQ(back->watch_place, "gate.mul");
    EXPECT_EQ(back->loss_scale, 1.0);
    EXPECT_EQ(back->later_steps, 20);
    EXPECT_EQ(back->keep_state, request.keep_state);
    EXPECT_EQ(back->variant, request.variant);

    BirthReport birth;
    birth.tensor = "hidden.weight";
    birth.producer = {3, "update", "hidden", "adamw", "addcdiv", {}, {}, {}, true};
    watch_birth(request, birth);
    const auto watched = replay_request_from_json(nlohmann::json::parse(to_json(request).dump()));
    ASSERT_TRUE(watched) << watched.error().message;
    EXPECT_EQ(watched->watch_phase + " " + watched->watch_place + " " + watched->watch_kernel + " " + watched->watch_tensor,
              "update hidden.adamw addcdiv hidden.weight");

    const auto plain = replay_request_from_json(to_json(ReplayRequest{}));
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_FALSE(plain->change_from);
    EXPECT_FALSE(plain->loss_scale);
    EXPECT_TRUE(plain->state.empty());
}

TEST(ReplayJson, WhatIsNoRequestSaysWhatIsMissing) {
    nlohmann::json broken = to_json(ReplayRequest{});
    broken.erase("plan");
    const auto read = replay_request_from_json(broken);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("plan"), std::string::npos) << read.error().message;
    broken = to_json(ReplayRequest{});
    broken["plan"]["training"]["batch_size"] = 0;
    EXPECT_FALSE(replay_request_from_json(broken));
    EXPECT_FALSE(replay_request_from_json(nlohmann::json(3)));
}

TEST(ReplayJson, AnAnswerComesBackAsItWas) {
    ReplayAnswer answer;
    answer.variant.id = "as_was";
    answer.variant.state = "done";
    answer.variant.this_step_finite = false;
    answer.variant.value = "NaN";
    answer.reproduced = Reproduced::Pattern;
    answer.reproduced_reason = "AVX2 here, AVX512 there";
    BirthReport birth;
    birth.code = "activation_overflow";
    birth.producer.module = "gate";
    birth.producer.op = "mul";
    TensorReading operand;
    operand.name = "gate.a.weight";
    operand.dtype = "float16";
    operand.shape = {2, 3};
    operand.positive = 6;
    operand.largest = 261;
    birth.producer.operands = {operand};
    birth.producer.result.pos_inf = 3;
    birth.step = 93;
    answer.birth = birth;
    answer.ops = {birth.producer};
    answer.limit = 65504;
    answer.producer_largest = {{94, 100.5}, {144, std::numeric_limits<double>::infinity()}};
    answer.start_step = 94;
    const auto back = replay_answer_from_json(nlohmann::json::parse(to_json(answer).dump()));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->variant, answer.variant);
    EXPECT_EQ(back->reproduced, Reproduced::Pattern);
    EXPECT_EQ(back->reproduced_reason, answer.reproduced_reason);
    EXPECT_EQ(back->birth, answer.birth);
    EXPECT_EQ(back->ops, answer.ops);
    EXPECT_EQ(back->limit, 65504);
    EXPECT_EQ(back->producer_largest, answer.producer_largest);
    EXPECT_EQ(back->start_step, 94);
    EXPECT_FALSE(replay_answer_from_json(nlohmann::json::object()));
}

TEST(ReplayJson, AVariantSaysWhatItChangesAndWhatCameOfIt) {
    VariantReport variant;
    variant.id = "island";
    variant.island = "gate.mul";
    EXPECT_EQ(variant.change(), "island gate.mul");
    EXPECT_TRUE(to_json(variant)["this_step"].is_null());
    variant.this_step_finite = true;
    variant.later_steps = 20;
    EXPECT_EQ(to_json(variant)["this_step"], "finite");
    EXPECT_EQ(to_json(variant)["later"], "holds");
    variant.later_bad_at = 4;
    EXPECT_EQ(to_json(variant)["later"], "bad after 4");
    variant.this_step_finite = false;
    variant.value = "Inf";
    EXPECT_EQ(to_json(variant)["this_step"], "Inf");
}

}  // namespace
}  // namespace mantissa
