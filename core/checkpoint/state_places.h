#pragma once
// Members of an object under the names by which a StateBundle keeps them: one list serves to write, to check and to take.
#include "checkpoint/state_bundle.h"

namespace mantissa {

struct FactPlace {
    const char* name;
    std::variant<bool*, std::int64_t*, double*, std::string*, std::vector<std::int64_t>*, std::vector<double>*> place;
};

void put_facts(StateBundle& bundle, const std::string& prefix, const std::vector<FactPlace>& places);
/// Throws std::runtime_error that names the first fact that is absent or of another type; nothing is changed.
void check_facts(const StateBundle& bundle, const std::string& prefix, const std::vector<FactPlace>& places);
/// After check_facts.
void take_facts(const StateBundle& bundle, const std::string& prefix, const std::vector<FactPlace>& places);

}  // namespace mantissa
