#include "checkpoint/state_places.h"

namespace mantissa {

void put_facts(StateBundle& bundle, const std::string& prefix, const std::vector<FactPlace>& places) {
    for (const FactPlace& one : places) {
        std::visit([&](const auto* place) { bundle.facts[prefix + one.name] = *place; }, one.place);
    }
}

void check_facts(const StateBundle& bundle, const std::string& prefix, const std::vector<FactPlace>& places) {
    for (const FactPlace& one : places) {
        std::visit(
            [&](auto* place) { (void)bundle.fact<std::remove_pointer_t<decltype(place)>>(prefix + one.name); },
            one.place);
    }
}

void take_facts(const StateBundle& bundle, const std::string& prefix, const std::vector<FactPlace>& places) {
    for (const FactPlace& one : places) {
        std::visit(
            [&](auto* place) { *place = bundle.fact<std::remove_pointer_t<decltype(place)>>(prefix + one.name); },
            one.place);
    }
}

}  // namespace mantissa
