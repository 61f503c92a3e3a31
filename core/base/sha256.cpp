#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/assert.h"

namespace mantissa {

struct Sha256::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : m_state(std::make_unique<State>()) {
    MANTISSA_ASSERT(EVP_DigestInit_ex(m_state->context, EVP_sha256(), nullptr) == 1);
}

Sha256::~Sha256() = default;

void Sha256::add(const void* bytes, std::size_t size) {
    MANTISSA_ASSERT(EVP_DigestUpdate(m_state->context, bytes, size) == 1);
}

std::string Sha256::hex() {
    std::array<unsigned char, 32> digest{};
    MANTISSA_ASSERT(EVP_DigestFinal_ex(m_state->context, digest.data(), nullptr) == 1);
    std::string text;
    for (const unsigned char byte : digest) {
        constexpr const char* digits = "0123456789abcdef";
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

std::string sha256_hex(std::string_view bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.hex();
}

}  // namespace mantissa
