#include "data/synthetic.h"

#include "data/random.h"

namespace mantissa {

Dataset random_classes(const char* name, std::uint64_t seed, std::int64_t samples, std::int64_t features) {
    const at::Generator generator = seeded_generator(seed);
    Dataset dataset;
    dataset.name = name;
    dataset.classes = 2;
    dataset.features = torch::randn({samples, features}, generator);
    dataset.labels = torch::randint(0, 2, {samples}, generator, torch::kLong);
    return dataset;
}

}  // namespace mantissa
