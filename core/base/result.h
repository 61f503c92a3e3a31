#pragma once
// Recoverable errors are values. `Error` carries a sentence for people, a hint with the way out, and a code that the command
// line turns into its exit status (design: 0 done, 2 bad plan or usage, 3 unsupported, 4 non-finite, 5 worker lost, 6 I/O, 69 no display,
// 130 interrupted, 1 internal).
#include <string>
#include <utility>
#include <variant>

#include "base/assert.h"

namespace mantissa {

enum class ErrorCode {
    BadPlan,
    Usage,
    UnsupportedPrecision,
    UnsupportedDevice,
    NotBuilt,  // a field or verb of the design that this version can't honour; refused, never ignored
    NonFinite,
    WorkerLost,
    InputOutput,
    NoDisplay,
    Interrupted,
    Internal,
};

struct Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;  // what is wrong: names the field, line, byte, file or device
    std::string hint;     // what to do about it; may be empty
};

[[nodiscard]] int exit_code(ErrorCode code);
[[nodiscard]] const char* to_string(ErrorCode code);  // "bad_plan", ...
/// Message and hint as one text: "message" or "message — hint".
[[nodiscard]] std::string describe(const Error& error);

/// A value or an Error. Use `Result<void>` for actions.
template <typename T>
class [[nodiscard]] Result {
  public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}       // NOLINT(google-explicit-constructor)
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

    [[nodiscard]] bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { MANTISSA_ASSERT(ok()); return std::get<0>(m_state); }
    const T& value() const& { MANTISSA_ASSERT(ok()); return std::get<0>(m_state); }
    T&& value() && { MANTISSA_ASSERT(ok()); return std::get<0>(std::move(m_state)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    [[nodiscard]] const Error& error() const { MANTISSA_ASSERT(!ok()); return std::get<1>(m_state); }

  private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : m_error(std::move(error)), m_ok(false) {}  // NOLINT(google-explicit-constructor)
    [[nodiscard]] bool ok() const { return m_ok; }
    explicit operator bool() const { return m_ok; }
    [[nodiscard]] const Error& error() const { MANTISSA_ASSERT(!m_ok); return m_error; }

  private:
    Error m_error;
    bool m_ok = true;
};

}  // namespace mantissa
