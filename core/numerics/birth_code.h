#pragma once
// What a birth is called in the verdicts, from its op, its phase and the numbers that went in and came out. Pure.
#include <string>

#include "numerics/tensor_reading.h"

namespace mantissa {

/// One birth as the finder saw it.
struct BirthFacts {
    const OpReading& op;
    const OpReading* inner = nullptr;    // the first op within it whose result was bad though its operands weren't
    const OpReading* forward = nullptr;  // of a backward: the forward op, where it was seen
    Level before = Level::Finite, after = Level::Finite;
    double loss_scale = 1;
};

/// log_of_zero zero_over_zero inf_minus_inf root_at_zero masked_row adam_eps activation_overflow loss_in_half scale_probing unknown.
/// `scale_probing` is a scaled gradient that left its format: whether it only probes, or persists, the steps around it tell.
[[nodiscard]] std::string birth_code(const BirthFacts& facts);

/// Of a leaf that was bad from the start.
[[nodiscard]] std::string leaf_code(const std::string& phase, const std::string& name);
/// A statistic of a batch norm is never a mask that somebody meant.
[[nodiscard]] bool is_statistic(const std::string& buffer);

}  // namespace mantissa
