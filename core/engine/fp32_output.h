#pragma once
// What a prepared forward returns: fp16 and bf16 tensors become fp32, however deep they lie in vectors, arrays, maps, pairs, tuples,
// optionals, variants and what TorchScript returns; fp64, integers and everything else stay as they are. For a type of your own,
// specialize Fp32Output.
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "torch_pch.h"

namespace mantissa {

template <typename T>
struct Fp32Output {
    static T of(T output) { return output; }
};

template <typename T>
[[nodiscard]] auto to_fp32_output(T&& output) {
    return Fp32Output<std::remove_cvref_t<T>>::of(std::forward<T>(output));
}

template <>
struct Fp32Output<torch::Tensor> {
    static torch::Tensor of(torch::Tensor output);
};
template <>
struct Fp32Output<c10::IValue> {
    static c10::IValue of(c10::IValue output);
};
template <typename T>
struct Fp32Output<std::optional<T>> {
    static std::optional<T> of(std::optional<T> output) {
        if (output) output.emplace(Fp32Output<T>::of(std::move(*output)));
        return output;
    }
};
template <typename... T>
struct Fp32Output<std::tuple<T...>> {
    static std::tuple<T...> of(std::tuple<T...> output) {
        return std::apply([](T&... one) { return std::tuple<T...>(Fp32Output<T>::of(std::move(one))...); }, output);
    }
};
template <typename A, typename B>
struct Fp32Output<std::pair<A, B>> {
    static std::pair<A, B> of(std::pair<A, B> output) {
        return {Fp32Output<A>::of(std::move(output.first)), Fp32Output<B>::of(std::move(output.second))};
    }
};
template <typename... T>
struct Fp32Output<std::variant<T...>> {
    static std::variant<T...> of(std::variant<T...> output) {
        std::visit([](auto& one) { one = Fp32Output<std::remove_cvref_t<decltype(one)>>::of(std::move(one)); }, output);
        return output;
    }
};

// Containers keep their order and keys.
template <typename Container>
struct Fp32OutputOfSequence {
    static Container of(Container output) {
        for (auto& one : output) one = Fp32Output<std::remove_cvref_t<decltype(one)>>::of(std::move(one));
        return output;
    }
};
template <typename Map>
struct Fp32OutputOfMap {
    static Map of(Map output) {
        for (auto& [key, one] : output) one = Fp32Output<typename Map::mapped_type>::of(std::move(one));
        return output;
    }
};
template <typename T>
struct Fp32Output<std::vector<T>> : Fp32OutputOfSequence<std::vector<T>> {};
template <>
struct Fp32Output<std::vector<bool>> {
    static std::vector<bool> of(std::vector<bool> output) { return output; }
};
template <typename T, std::size_t count>
struct Fp32Output<std::array<T, count>> : Fp32OutputOfSequence<std::array<T, count>> {};
template <typename K, typename T, typename... Rest>
struct Fp32Output<std::map<K, T, Rest...>> : Fp32OutputOfMap<std::map<K, T, Rest...>> {};
template <typename K, typename T, typename... Rest>
struct Fp32Output<std::unordered_map<K, T, Rest...>> : Fp32OutputOfMap<std::unordered_map<K, T, Rest...>> {};

}  // namespace mantissa
