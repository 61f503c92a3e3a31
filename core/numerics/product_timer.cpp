#include "numerics/product_timer.h"

#include <string_view>

#include "base/assert.h"
#include "base/clock.h"
#include "numerics/op_names.h"
#include "torch_pch.h"

namespace mantissa {
namespace {

std::atomic<ProductTimer*> active_timer{nullptr};  // RecordFunction's callbacks are plain functions

thread_local bool t_in_product = false, t_in_cast = false;

struct TimedOp : at::ObserverContext {
    std::int64_t started_ns = 0;
    bool is_cast = false;
};

// As bare_op_name, without a text of its own: this runs at every op of a step whose time is wanted.
std::string_view bare(std::string_view name) {
    if (const auto colon = name.rfind("::"); colon != std::string_view::npos) name.remove_prefix(colon + 2);
    while (name.starts_with('_')) name.remove_prefix(1);
    while (name.ends_with('_')) name.remove_suffix(1);
    return name;
}

// Fused attention is two products with a softmax between that never leaves the cache.
bool is_timed(std::string_view op) {
    return is_product(op) || op.starts_with("scaled_dot_product_flash") || op.starts_with("scaled_dot_product_efficient") ||
           op.starts_with("mkldnn_rnn_layer");
}

}  // namespace

// Under autocast a product that is called casts first and then calls itself: the outermost one is timed, less the casts within.
struct ProductTimerCallbacks {
    static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
        if (active_timer.load() == nullptr || (t_in_product && t_in_cast)) return nullptr;
        const std::string_view op = bare(function.name());
        if (t_in_product ? op != "to_copy" && op != "to_fp8" : !is_timed(op)) return nullptr;
        auto context = std::make_unique<TimedOp>();
        context->is_cast = t_in_product;
        (t_in_product ? t_in_cast : t_in_product) = true;
        context->started_ns = monotonic_ns();
        return context;
    }

    static void end(const at::RecordFunction& /*function*/, at::ObserverContext* observer) {
        auto* context = static_cast<TimedOp*>(observer);
        if (context == nullptr) return;
        const std::int64_t taken = monotonic_ns() - context->started_ns;
        (context->is_cast ? t_in_cast : t_in_product) = false;
        if (ProductTimer* timer = active_timer.load()) timer->m_ns += context->is_cast ? -taken : taken;
    }
};

ProductTimer::ProductTimer() {
    ProductTimer* nobody = nullptr;
    const bool alone = active_timer.compare_exchange_strong(nobody, this);
    MANTISSA_ASSERT(alone);
    m_handle = at::addGlobalCallback(at::RecordFunctionCallback(ProductTimerCallbacks::start, ProductTimerCallbacks::end)
                                         .scopes({at::RecordScope::FUNCTION}));
}

ProductTimer::~ProductTimer() {
    at::removeCallback(m_handle);
    active_timer = nullptr;
}

}  // namespace mantissa
