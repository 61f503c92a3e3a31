#include "data/tensor_hash.h"

#include <sstream>

#include "base/sha256.h"

namespace mantissa {

std::string tensor_hash(const std::vector<std::pair<std::string, torch::Tensor>>& named) {
    Sha256 digest;
    for (const auto& [name, tensor] : named) {
        const torch::Tensor bytes = tensor.detach().to(torch::kCPU).contiguous();
        std::ostringstream head;
        head << name << ' ' << c10::toString(bytes.scalar_type()) << ' ' << bytes.sizes() << '\n';
        digest.add(head.str());
        digest.add(bytes.const_data_ptr(), bytes.nbytes());
    }
    return digest.hex();
}

}  // namespace mantissa
