#include "plan_origins.h"

#include <nlohmann/json.hpp>

#include "output.h"
#include "table.h"

namespace mantissa::cli {

nlohmann::json sources_json(const SourcedPlan& plan) {
    using Json = nlohmann::json;
    Json values = Json::object();
    for (const auto& [path, origin] : plan.origins) {
        Json overruled = Json::array();
        for (const auto& lost : origin.overruled)
            overruled.push_back({{"value", lost.value},
                                 {"source", mantissa::to_string(lost.source)},
                                 {"detail", lost.detail}});
        values[path] = {{"value", origin.value},
                        {"source", mantissa::to_string(origin.source)},
                        {"detail", origin.detail},
                        {"overruled", overruled}};
    }
    return {{"values", values}, {"notes", plan.notes}};
}

void print_sources(const SourcedPlan& plan) {
    if (plan.origins.empty()) {
        print("Nothing in Accelerate's file or in ACCELERATE_* differs from the built-in defaults.");
    } else {
        Table table;
        for (const char* title : {"field", "value", "from"}) table.add_column(title);
        for (const auto& [path, origin] : plan.origins)
            table.add_row({path, origin.value, describe_source(origin.source, origin.detail)});
        print_table(table);
    }
    for (const std::string& line : plan.overruled_lines()) print(line);
    for (const std::string& note : plan.notes) print("note: " + note);
}

}  // namespace mantissa::cli
