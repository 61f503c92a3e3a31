#pragma once
// What Accelerate's utils.operations does with tensors and objects of several processes. Every function is collective, and with one
// process (or no group) gives what upstream gives there, at no cost.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/loader.h"
#include "engine/process_group.h"

namespace mantissa {

// Tensors in vectors, maps, pairs, tuples and batches; an order that is the same on all processes.
template <typename T>
struct IsNestedTensor : std::is_same<T, torch::Tensor> {};
template <>
struct IsNestedTensor<Batch> : std::true_type {};
template <typename T>
struct IsNestedTensor<std::vector<T>> : IsNestedTensor<T> {};
template <typename K, typename T>
struct IsNestedTensor<std::map<K, T>> : IsNestedTensor<T> {};
template <typename A, typename B>
struct IsNestedTensor<std::pair<A, B>> : std::bool_constant<IsNestedTensor<A>::value && IsNestedTensor<B>::value> {};
template <typename... T>
struct IsNestedTensor<std::tuple<T...>> : std::bool_constant<(IsNestedTensor<T>::value && ...)> {};

template <typename T, typename Function>
[[nodiscard]] T map_tensors(const T& value, const Function& function) {
    if constexpr (std::is_same_v<T, torch::Tensor>) {
        return function(value);
    } else if constexpr (std::is_same_v<T, Batch>) {
        return {value.features.defined() ? function(value.features) : torch::Tensor(),
                value.labels.defined() ? function(value.labels) : torch::Tensor()};
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
        // Braces: from left to right.
        return std::apply([&](const auto&... one) { return T{map_tensors(one, function)...}; }, value);
    } else if constexpr (requires { typename T::mapped_type; }) {
        T result;
        for (const auto& [key, one] : value) result.emplace(key, map_tensors(one, function));
        return result;
    } else {
        T result;
        for (const auto& one : value) result.push_back(map_tensors(one, function));
        return result;
    }
}

namespace collectives {

/// Concatenated along dimension 0 in the order of ranks; a number becomes a row of numbers.
[[nodiscard]] torch::Tensor gather(ProcessGroup* group, const torch::Tensor& tensor);
/// Sum, mean or maximum over the processes, as a copy. None: this process's own, copied.
[[nodiscard]] torch::Tensor reduce(ProcessGroup* group, const torch::Tensor& tensor, ReduceOperation operation, double scale);
/// To the largest size that a process has in dimension `dim`, so that gather() can take them.
[[nodiscard]] torch::Tensor pad(ProcessGroup* group, const torch::Tensor& tensor, std::int64_t dim, double pad_index,
                                bool pad_first);
/// The tensor of that rank. All have the same shape and dtype.
[[nodiscard]] torch::Tensor broadcast(ProcessGroup* group, const torch::Tensor& tensor, std::int64_t from_rank);
/// One text per rank, of any length.
[[nodiscard]] std::vector<std::string> gather_bytes(ProcessGroup* group, const std::string& bytes);
/// Throws EngineError with each rank's dtype and shape unless all have the same (ACCELERATE_DEBUG_MODE).
void check_same_shape(ProcessGroup* group, const torch::Tensor& tensor, const char* operation);

/// What one attempt of an optimizer found, on this process or on any.
struct AttemptFlags {
    bool overflow = false, nonfinite_loss = false, nonfinite_gradient = false;
};
/// One process that skips and another that doesn't would go apart for good, in scale, weights and learning rate: what any found holds
/// for all.
[[nodiscard]] AttemptFlags agree(ProcessGroup* group, const AttemptFlags& own, torch::Device device);

/// The first error that any process brings, with its number, on all; none: all are ready. A process that failed alone would leave the
/// others waiting.
[[nodiscard]] Result<void> agree(ProcessGroup* group, const Result<void>& own);

}  // namespace collectives

/// Values that may be gathered one by one: numbers and texts.
template <typename T>
concept Gatherable = std::is_arithmetic_v<T> || std::is_same_v<T, std::string>;

/// Lists of all processes, one after the other.
template <Gatherable T>
[[nodiscard]] std::vector<T> gather_objects(ProcessGroup* group, const std::vector<T>& objects) {
    if (group == nullptr || group->size() == 1) return objects;
    std::string bytes;
    const auto add = [&bytes](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
    for (const auto& one : objects) {
        if constexpr (std::is_same_v<T, std::string>) {
            add(one.size());
            bytes += one;
        } else {
            add(static_cast<T>(one));  // vector<bool> hands out references of its own kind
        }
    }
    std::vector<T> all;
    for (const std::string& part : collectives::gather_bytes(group, bytes)) {
        for (std::size_t at = 0; at < part.size();) {
            if constexpr (std::is_same_v<T, std::string>) {
                std::size_t length = 0;
                part.copy(reinterpret_cast<char*>(&length), sizeof length, at);
                all.push_back(part.substr(at + sizeof length, length));
                at += sizeof length + length;
            } else {
                T value{};
                part.copy(reinterpret_cast<char*>(&value), sizeof value, at);
                all.push_back(value);
                at += sizeof value;
            }
        }
    }
    return all;
}

}  // namespace mantissa
