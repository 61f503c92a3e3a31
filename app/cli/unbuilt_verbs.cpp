#include <CLI/CLI.hpp>

#include "output.h"
#include "verbs.h"

namespace mantissa::cli {
namespace {

struct UnbuiltVerb {
    const char *name, *about, *instead;
};

constexpr UnbuiltVerb unbuilt[] = {
    {"lessons", "lessons for a classroom",
     "the presets are small lessons: `mantissa compare gated-overflow`"}};

}  // namespace

void add_unbuilt_verbs(CLI::App& program, int& result) {
    for (const UnbuiltVerb& verb : unbuilt) {
        auto* entry = program.add_subcommand(verb.name, verb.about)->group("Not built yet");
        entry->allow_extras();
        entry->set_help_flag();
        entry->callback([&verb, &result] {
            result = fail({ErrorCode::NotBuilt, std::string(verb.name) + " is not built yet", verb.instead});
        });
    }
}

}  // namespace mantissa::cli
