#include "plan/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace mantissa {
namespace {

std::string folded(std::string_view text) {
    std::string result;
    for (const char c : text)
        result += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

std::string_view last_part(std::string_view path) {
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> row(right.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= left.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t replaced = diagonal + (left[i - 1] == right[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view written, const std::vector<std::string>& known,
                                       std::size_t limit) {
    // Names are short; a hostile plan file's are not, and the distance costs length times length.
    const std::string wanted = folded(written.substr(0, 64));
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const std::string& name : known) {
        const std::string candidate = folded(name);
        std::size_t distance = edit_distance(wanted, candidate);
        // The right name in the wrong object: batch_size for training.batch_size.
        if (last_part(wanted) == last_part(candidate))
            distance = std::min<std::size_t>(distance, 1);
        else
            distance = std::min(distance, edit_distance(last_part(wanted), last_part(candidate)) + 1);
        if (distance <= std::max<std::size_t>(2, last_part(wanted).size() / 3))
            found.emplace_back(distance, name);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> result;
    for (auto& [distance, name] : found)
        if (result.size() < limit) result.push_back(std::move(name));
    return result;
}

std::string join_names(const std::vector<std::string>& names) {
    std::string result;
    for (const std::string& name : names) result += (result.empty() ? "" : ", ") + name;
    return result;
}

}  // namespace mantissa
