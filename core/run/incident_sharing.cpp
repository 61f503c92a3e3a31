// What the processes of a run tell each other of a bad step.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/collectives.h"
#include "record/place_name.h"
#include "run/incident_log.h"

namespace mantissa {
namespace {

constexpr const char* unknown_kind = "unknown";

struct News {
    std::vector<IncidentRow> rows;
    std::vector<std::pair<std::int64_t, std::string>> files;  // step and kind
};

// Of the numbers of one process; the others are of the weights or of the scale, which all have in common.
bool is_of_one(const IncidentRow& row) { return row.kind != "scale_collapse" && row.kind != "weights_poisoned"; }

std::string news_text(const std::vector<IncidentRow>& rows, const std::vector<IncidentReport>& files) {
    nlohmann::json all{{"rows", nlohmann::json::array()}, {"files", nlohmann::json::array()}};
    for (const IncidentRow& row : rows) {
        all["rows"].push_back({row.step, row.phase, row.kind, row.severity, row.module, row.op, row.tensor, row.detail_json});
    }
    for (const IncidentReport& file : files) all["files"].push_back({file.step, file.kind});
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Of a process of this run: its form is the one above.
News read_news(const std::string& text) {
    News told;
    const nlohmann::json all = nlohmann::json::parse(text);
    for (const nlohmann::json& row : all.at("rows")) {
        told.rows.push_back({0, row.at(0), row.at(1), row.at(2), row.at(3), row.at(4), row.at(5), row.at(6), row.at(7)});
    }
    for (const nlohmann::json& file : all.at("files")) told.files.emplace_back(file.at(0), file.at(1));
    return told;
}

void tell_rank(IncidentRow& row, std::int64_t rank) {
    if (!is_of_one(row)) return;
    nlohmann::json detail = nlohmann::json::parse(row.detail_json, nullptr, false);
    if (!detail.is_object()) detail = nlohmann::json::object();
    detail["rank"] = rank;
    row.detail_json = detail.dump();
}

std::string place_or_tensor(const IncidentRow& row) {
    const std::string place = place_name(row.module, row.op);
    return place.empty() ? row.tensor : place;
}

}  // namespace

std::string IncidentLog::settle(const Ranks& ranks, bool is_bad) {
    std::vector<IncidentRow> rows = std::exchange(m_waiting_rows, {});
    std::vector<IncidentReport> files = std::exchange(m_waiting_files, {});
    std::vector<News> all;
    if (is_bad) {
        for (const std::string& text : collectives::gather_bytes(ranks.group().get(), news_text(rows, files))) all.push_back(read_news(text));
    }
    bool is_named = false;
    std::string place;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        for (const IncidentRow& row : all[rank].rows) {
            if (row.severity != "error" || row.kind == unknown_kind) continue;
            is_named = true;
            if (place.empty() && is_of_one(row) && !place_or_tensor(row).empty()) place = place_or_tensor(row) + " of rank " + std::to_string(rank);
        }
    }
    // The gradients of all are bad; whoever met the reason tells it.
    const auto says_nothing = [is_named](const auto& one) { return is_named && one.kind == unknown_kind; };
    std::erase_if(rows, says_nothing);
    const auto is_mine = [&](const IncidentReport& file) {
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            for (const auto& [step, kind] : all[rank].files) {
                if (step == file.step && !(is_named && kind == unknown_kind)) return static_cast<std::int64_t>(rank) == *m_rank;
            }
        }
        return true;  // nobody was asked
    };
    for (IncidentRow& row : rows) {
        tell_rank(row, *m_rank);
        m_recorder.incident(row);
    }
    for (IncidentReport& file : files) {
        if (!says_nothing(file) && is_mine(file)) put(std::move(file));
    }
    if (!is_bad) return "";
    for (std::size_t rank = 1; ranks.is_main() && rank < all.size(); ++rank) take_rows_of(static_cast<std::int64_t>(rank), all[rank].rows);
    ranks.group()->barrier();  // what is known is on the disk before anybody goes on or stops
    return place;
}

void IncidentLog::take_rows_of(std::int64_t rank, const std::vector<IncidentRow>& rows) {
    bool is_news = false;
    for (IncidentRow row : rows) {
        if (row.kind == unknown_kind || !m_rows.insert(key_of(row)).second) continue;
        tell_rank(row, rank);
        m_recorder.incident(std::move(row));
        is_news = true;
    }
    if (is_news) static_cast<void>(m_recorder.sync());
}

}  // namespace mantissa
