#include "numerics/op_arguments.h"

#include <algorithm>

#include "engine/op_kinds.h"

namespace mantissa {
namespace {

using torch::Tensor;

bool is_listwise(std::string_view op) {
    return op.starts_with("foreach_") || op.starts_with("fused_") || op.starts_with("amp_foreach");
}

void collect(const c10::IValue& value, std::vector<Tensor>& tensors) {
    if (value.isTensor()) {
        if (value.toTensor().defined()) tensors.push_back(value.toTensor());
    } else if (value.isTensorList()) {
        for (const Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
    } else if (value.isList()) {
        for (const c10::IValue& one : value.toListRef()) collect(one, tensors);
    }
}

bool is_number(const c10::IValue& value, const c10::Argument* argument) {
    return value.isDouble() || (value.isInt() && argument != nullptr && argument->type()->kind() == c10::TypeKind::NumberType);
}

c10::ArrayRef<const c10::IValue> last_of(c10::ArrayRef<const c10::IValue> values, std::size_t count) {
    return values.size() > count ? values.slice(values.size() - count) : values;
}

// In training a batch norm writes its statistics and doesn't read them for the result.
bool ignores_statistics(const c10::FunctionSchema& schema, c10::ArrayRef<const c10::IValue> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::string& name = schema.arguments()[i].name();
        if ((name == "training" || name == "train" || name == "use_input_stats") && inputs[i].isBool()) return inputs[i].toBool();
    }
    return false;
}

}  // namespace

OpArguments::OpArguments(const at::RecordFunction& function, std::string_view op) {
    auto inputs = function.inputs();
    const auto schema = function.operator_schema();
    if (schema) inputs = last_of(inputs, schema->arguments().size());
    const bool is_blind = schema && ignores_statistics(*schema, inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const c10::Argument* declared = schema && i < schema->arguments().size() ? &schema->arguments()[i] : nullptr;
        Argument argument;
        collect(inputs[i], argument.tensors);
        argument.is_list = inputs[i].isList();
        argument.is_written = declared != nullptr && declared->alias_info() != nullptr && declared->alias_info()->isWrite();
        const bool is_statistic = is_blind && declared->name().starts_with("running_");
        argument.is_read = !(i == 0 && overwrites(op)) && !(declared != nullptr && declared->is_out()) && !is_statistic;
        if (is_number(inputs[i], declared)) m_scalars.push_back(inputs[i].toScalar().toDouble());
        m_arguments.push_back(std::move(argument));
    }
    if (is_listwise(op) && !m_arguments.empty()) m_elements = std::max<std::size_t>(1, m_arguments[0].tensors.size());
}

std::vector<Tensor> OpArguments::pick(std::size_t element, bool written) const {
    std::vector<Tensor> picked;
    for (const Argument& argument : m_arguments) {
        if (written ? !argument.is_written : !argument.is_read) continue;
        if (m_elements > 1 && argument.is_list) {
            if (argument.tensors.size() == m_elements) picked.push_back(argument.tensors[element]);
        } else {
            picked.insert(picked.end(), argument.tensors.begin(), argument.tensors.end());
        }
    }
    return picked;
}

std::vector<Tensor> op_results(const at::RecordFunction& function, std::size_t element, std::size_t elements) {
    // By value for the boxed calls: what is below an op's own results belongs to others.
    const auto& all = function.outputs();
    c10::ArrayRef<const c10::IValue> outputs(all.data(), all.size());
    if (const auto schema = function.operator_schema()) outputs = last_of(outputs, schema->returns().size());
    std::vector<Tensor> results;
    for (const c10::IValue& value : outputs) collect(value, results);
    if (elements > 1 && results.size() == elements) return {results[element]};
    return elements > 1 ? std::vector<Tensor>{} : results;
}

}  // namespace mantissa
