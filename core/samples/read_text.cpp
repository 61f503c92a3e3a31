#include <algorithm>
#include <map>
#include <memory>

#include "formats/byte_reader.h"
#include "formats/utf8.h"
#include "samples/readers.h"

namespace mantissa::samples {
namespace {

constexpr std::uint64_t most_bytes = 1ull << 30;
constexpr std::size_t most_characters = 65'536;  // different ones

/// Characters of the file as they come, the few bytes that a block cuts off carried over.
class CharacterStream {
  public:
    explicit CharacterStream(std::unique_ptr<ByteReader> bytes) : m_bytes(std::move(bytes)) {}
    /// Calls `take` for each; false from it ends the reading.
    template <typename Take>
    Result<void> each(Take take) {
        std::string block;
        std::uint64_t begin = 0;  // place of the block's first byte in the text
        for (;;) {
            const std::size_t carried = block.size();
            block.resize(carried + block_bytes);
            const auto got = m_bytes->read(block.data() + carried, block_bytes);
            if (!got) return got.error();
            block.resize(carried + *got);
            if (block.empty()) return {};
            std::size_t at = begin == 0 && block.starts_with("\xEF\xBB\xBF") ? 3 : 0;
            while (at < block.size()) {
                if (*got != 0 && block.size() - at < 4) break;  // it may go on in the next block
                const auto character = next_character(block, at);
                if (!character) return m_bytes->error("isn't UTF-8 at byte " + std::to_string(begin + at), "save the text as UTF-8");
                if (*character == 0) return m_bytes->error("holds a zero at byte " + std::to_string(begin + at - 1) + ": it is no text");
                if (!take(*character)) return {};
            }
            begin += at;
            block.erase(0, at);
            if (*got == 0) return {};
            if (begin > most_bytes) return m_bytes->error("is a text of more than the " + std::to_string(most_bytes) + " bytes allowed here");
        }
    }

  private:
    static constexpr std::size_t block_bytes = 64 * 1024;
    std::unique_ptr<ByteReader> m_bytes;
};

}  // namespace

Result<Samples> read_text(const DatasetPlan& plan, const SampleLimits& limits) {
    auto bytes = open_bytes(plan.file);
    if (!bytes) return bytes.error();
    const std::int64_t context = plan.context;
    const std::uint64_t most = limits.most_samples == 0 ? most_bytes : static_cast<std::uint64_t>(limits.most_samples * context + 1);
    std::u32string text;
    if (auto done = CharacterStream(std::move(*bytes)).each([&](char32_t character) {
            text += character;
            return text.size() < most;
        });
        !done)
        return done.error();
    std::map<char32_t, std::int64_t> vocabulary;
    for (const char32_t character : text) {
        vocabulary.emplace(character, 0);
        if (vocabulary.size() > most_characters)
            return Error{ErrorCode::InputOutput, plan.file + " holds more than " + std::to_string(most_characters) + " different characters", "is it a text?"};
    }
    const std::int64_t samples = (static_cast<std::int64_t>(text.size()) - 1) / context;
    if (samples < 1 || vocabulary.size() < 2)
        return Error{ErrorCode::InputOutput, plan.file + " holds " + std::to_string(text.size()) + " characters, " + std::to_string(context + 1) + " are the fewest for one sample",
                     "use a longer text, or a smaller dataset.context"};
    Samples result{{}, FloatStore(limits.bytes_in_memory), {}, {}};
    SampleFacts& facts = result.facts;
    for (auto& [character, place] : vocabulary) {
        place = static_cast<std::int64_t>(facts.classes.size());
        facts.classes.push_back(to_utf8(character));
    }
    const auto count = static_cast<std::size_t>(samples * context);
    std::vector<float> features(count);
    for (std::size_t i = 0; i < count; ++i) {
        features[i] = static_cast<float>(vocabulary.at(text[i]));
        result.labels.push_back(vocabulary.at(text[i + 1]));
    }
    if (auto done = result.features.append(features); !done) return done.error();
    facts.format = to_string(FileKind::Text);
    facts.element = "character";
    facts.samples = samples;
    facts.shape = {context};
    facts.target = SampleTarget::NextToken;
    facts.target_name = "next character";
    facts.are_tokens = true;
    return result;
}

}  // namespace mantissa::samples
