#pragma once
// What the engine throws. core/run turns every one into an Error value; a program of one's own catches std::exception.
#include <cstdint>
#include <stdexcept>
#include <string>

#include "base/result.h"

namespace mantissa {

class EngineError : public std::runtime_error {
  public:
    explicit EngineError(Error error) : std::runtime_error(describe(error)), m_error(std::move(error)) {}
    [[nodiscard]] const Error& error() const { return m_error; }

  private:
    Error m_error;
};

/// Thrown by a prepared optimizer's step before any weight moves (rule 12).
class NonFinite : public EngineError {
  public:
    enum class Where { Loss, Gradient, LossScale };
    NonFinite(Where where, std::int64_t step, std::string subject, Error error)
        : EngineError(std::move(error)), m_where(where), m_step(step), m_subject(std::move(subject)) {}

    [[nodiscard]] Where where() const { return m_where; }
    [[nodiscard]] std::int64_t step() const { return m_step; }  // attempts before this one
    /// Name of the first parameter with a non-finite gradient; "loss" or "loss scale" otherwise.
    [[nodiscard]] const std::string& subject() const { return m_subject; }

  private:
    Where m_where;
    std::int64_t m_step;
    std::string m_subject;
};

}  // namespace mantissa
