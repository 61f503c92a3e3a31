#include "numerics/dtype_names.h"

namespace mantissa {

const char* dtype_name(at::ScalarType type) {
    switch (type) {
        case at::kFloat:
            return "float32";
        case at::kDouble:
            return "float64";
        case at::kHalf:
            return "float16";
        case at::kBFloat16:
            return "bfloat16";
        case at::kByte:
            return "uint8";
        case at::kChar:
            return "int8";
        case at::kShort:
            return "int16";
        case at::kInt:
            return "int32";
        case at::kLong:
            return "int64";
        case at::kBool:
            return "bool";
        case at::kFloat8_e4m3fn:
            return "float8_e4m3fn";
        case at::kFloat8_e5m2:
            return "float8_e5m2";
        case at::kComplexFloat:
            return "complex64";
        case at::kComplexDouble:
            return "complex128";
        default:
            return c10::toString(type);
    }
}

bool is_half(at::ScalarType type) {
    return type == at::kHalf || type == at::kBFloat16 || c10::isFloat8Type(type);
}

}  // namespace mantissa
