// The messages of event files. Field numbers: tensorboard/compat/proto/{event,summary,tensor}.proto and
// tensorboard/plugins/hparams/{api,plugin_data}.proto.
#include <bit>

#include "track/event_file.h"

namespace mantissa::event {
namespace {

class Message {
  public:
    Message& varint(int field, std::uint64_t value) {
        key(field, 0);
        number(value);
        return *this;
    }
    Message& real(int field, double value) {
        key(field, 1);
        fixed(std::bit_cast<std::uint64_t>(value));
        return *this;
    }
    Message& real(int field, float value) {
        key(field, 5);
        fixed(std::bit_cast<std::uint32_t>(value));
        return *this;
    }
    Message& bytes(int field, std::string_view value) {
        key(field, 2);
        number(value.size());
        m_bytes += value;
        return *this;
    }
    Message& message(int field, const Message& value) { return bytes(field, value.m_bytes); }
    [[nodiscard]] const std::string& text() const { return m_bytes; }

  private:
    void key(int field, int wire) { number(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire)); }
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) m_bytes += static_cast<char>((value & 0x7F) | 0x80);
        m_bytes += static_cast<char>(value);
    }
    template <typename Bits>
    void fixed(Bits bits) {
        for (std::size_t i = 0; i < sizeof(bits); ++i) m_bytes += static_cast<char>((bits >> (8 * i)) & 0xFF);
    }
    std::string m_bytes;
};

constexpr std::uint64_t type_double = 2, type_string = 7;                                      // DataType of tensors
constexpr std::uint64_t hparam_string = 1, hparam_bool = 2, hparam_float64 = 3, success = 1;  // hparams' own

Message plugin(const char* name, std::string_view content = {}) {
    Message data;
    data.bytes(1, name);
    if (!content.empty()) data.bytes(2, content);
    return Message().message(1, data);
}

std::string summary(const Message& value) { return Message().message(1, value).text(); }

std::string hparams_summary(const char* tag, const Message& plugin_data) {
    return summary(Message().bytes(1, tag).message(9, plugin("hparams", plugin_data.text())));
}

}  // namespace

std::string scalar_summary(const std::string& tag, double value) {
    return summary(Message().bytes(1, tag).real(2, static_cast<float>(value)));
}

std::string exact_scalar_summary(const std::string& tag, double value) {
    Message packed;
    packed.real(6, value);
    // A packed list of one double: key, length 8, the number.
    const Message tensor =
        Message().varint(1, type_double).bytes(6, std::string_view(packed.text()).substr(1));
    return summary(Message().bytes(1, tag).message(8, tensor).message(9, plugin("scalars")));
}

std::string text_summary(const std::string& tag, const std::string& text) {
    const Message one_dimension = Message().message(2, Message().varint(1, 1));
    const Message tensor = Message().varint(1, type_string).message(2, one_dimension).bytes(8, text);
    return summary(Message().bytes(1, tag + "/text_summary").message(8, tensor).message(9, plugin("text")));
}

std::string hparams_experiment(const TrackerConfig& config) {
    Message experiment;
    for (const auto& [name, value] : config) {
        const std::uint64_t type = value.text() != nullptr ? hparam_string : value.truth() != nullptr ? hparam_bool : hparam_float64;
        experiment.message(4, Message().bytes(1, name).varint(4, type));
    }
    return hparams_summary("_hparams_/experiment", Message().message(2, experiment));
}

std::string hparams_session_start(const TrackerConfig& config) {
    Message start;
    for (const auto& [name, value] : config) {
        Message encoded;
        if (value.text() != nullptr) encoded.bytes(3, *value.text());
        if (value.truth() != nullptr) encoded.varint(4, *value.truth() ? 1 : 0);
        if (value.number() != nullptr) encoded.real(2, *value.number());
        start.message(1, Message().bytes(1, name).message(2, encoded));
    }
    return hparams_summary("_hparams_/session_start_info", Message().message(3, start));
}

std::string hparams_session_end() {
    return hparams_summary("_hparams_/session_end_info", Message().message(4, Message().varint(1, success)));
}

std::string with_summary(double wall_time, std::int64_t step, const std::string& summary) {
    Message event;
    event.real(1, wall_time);
    if (step != 0) event.varint(2, static_cast<std::uint64_t>(step));
    return event.bytes(5, summary).text();
}

std::string file_version(double wall_time) { return Message().real(1, wall_time).bytes(3, "brain.Event:2").text(); }

}  // namespace mantissa::event
