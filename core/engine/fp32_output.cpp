#include "engine/fp32_output.h"

namespace mantissa {

torch::Tensor Fp32Output<torch::Tensor>::of(torch::Tensor output) {
    if (output.defined() && (output.scalar_type() == at::kHalf || output.scalar_type() == at::kBFloat16)) {
        return output.to(at::kFloat);
    }
    return output;
}

c10::IValue Fp32Output<c10::IValue>::of(c10::IValue output) {
    if (output.isTensor()) {
        return Fp32Output<torch::Tensor>::of(output.toTensor());
    }
    if (output.isTuple()) {
        const auto tuple = output.toTuple();
        std::vector<c10::IValue> elements;
        for (const auto& one : tuple->elements()) elements.push_back(of(one));
        return c10::ivalue::Tuple::create(std::move(elements));
    }
    if (output.isTensorList()) {
        c10::List<torch::Tensor> list;
        for (const torch::Tensor& one : output.toTensorVector()) list.push_back(Fp32Output<torch::Tensor>::of(one));
        return list;
    }
    if (output.isList()) {
        const auto before = output.toList();
        c10::impl::GenericList list(before.elementType());
        for (const c10::IValue& one : before) list.push_back(of(one));
        return list;
    }
    if (output.isGenericDict()) {
        const auto before = output.toGenericDict();
        c10::impl::GenericDict dict(before.keyType(), before.valueType());
        for (const auto& entry : before) dict.insert(entry.key(), of(entry.value()));
        return dict;
    }
    return output;
}

}  // namespace mantissa
