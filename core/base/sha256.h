#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace mantissa {

/// Incremental SHA-256 (libcrypto). `hex` ends the digest.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;
    void add(const void* bytes, std::size_t size);
    void add(std::string_view text) { add(text.data(), text.size()); }
    [[nodiscard]] std::string hex();

  private:
    struct State;
    std::unique_ptr<State> m_state;
};

[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace mantissa
