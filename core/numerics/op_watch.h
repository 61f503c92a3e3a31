#pragma once
// Records every outermost op of the threads that take part in a step: what went in and came out, which op made which operand, and
// whether a bad value was born in it. Callbacks of torch; one watch at a time in a process. A backward on other threads is seen,
// because the autograd engine hands the callbacks of the calling thread on.
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "numerics/tensor_reading.h"

namespace mantissa {

inline constexpr int no_op = -1;

struct Leaf {
    std::string phase;  // data parameter buffer unscale
    TensorReading reading;
    bool may_be_meant = false;  // its Inf may be a mask
    std::optional<std::int64_t> sample;
};

struct Operand {
    int producer = no_op;  // index of the op that made it
    const Leaf* leaf = nullptr;
    Level level = Level::Finite;
};

struct SeenOp {
    OpReading reading;
    std::optional<OpReading> inner;  // the first op within it whose result was bad though its operands weren't
    std::vector<Operand> operands;   // in the order of reading.operands
    Level level = Level::Finite;     // of the results
    int forward = no_op;             // of a backward: the forward op that it is the derivative of
    std::int64_t first_sequence = -1, end_sequence = -1;  // of the autograd nodes made within it
    std::int64_t nonfinite_results = 0;
    std::optional<std::int64_t> sample;
    bool only_shows = false;  // a view or an allocation: nothing is computed
    bool is_probing = false;  // an Inf in a scaled gradient while the scale looks for its place: not a birth
};

class OpWatch {
  public:
    OpWatch();
    ~OpWatch();
    OpWatch(const OpWatch&) = delete;
    OpWatch& operator=(const OpWatch&) = delete;

    struct Running;
    struct Node;
    struct Callbacks;

    mutable std::mutex mutex;  // protects all below
    std::vector<SeenOp> ops;
    std::string phase = "forward", error;
    std::function<std::string()> place;
    double loss_scale = 1;
    bool scale_is_probing = false;

    void name(const torch::Tensor& leaf, const std::string& name, const std::string& phase, bool may_be_meant);
    /// What this tensor is now: who made it, and how bad it is.
    [[nodiscard]] Operand operand(const torch::Tensor& tensor, const TensorReading& reading) const;

  private:
    struct Write {
        int op = no_op;
        std::int64_t begin = 0, end = 0;  // bytes of the storage
    };
    void begin(const at::RecordFunction& function, Running& running);
    void end(const at::RecordFunction& function, Running& running);
    void begin_inner(const at::RecordFunction& function, Running& running);
    void end_inner(const at::RecordFunction& function, Running& running, Running& outer);
    void enter_node(const at::RecordFunction& function);
    [[nodiscard]] std::string place_of(const SeenOp& op) const;
    void hand_on_name(const SeenOp& op, const std::vector<torch::Tensor>& results);
    void made_by(int index, const torch::Tensor& result, bool is_view);
    [[nodiscard]] const Leaf* leaf_of(const torch::Tensor& tensor) const;
    [[nodiscard]] int producer_of(const torch::Tensor& tensor, Level level) const;
    [[nodiscard]] std::optional<std::int64_t> sample_of(const SeenOp& op, const torch::Tensor& result) const;
    void judge(SeenOp& op);

    std::list<Leaf> m_leaves;  // an operand keeps its address
    std::unordered_map<const void*, const Leaf*> m_leaf_of;          // of a tensor and of a storage
    std::unordered_map<const void*, int> m_makers;                   // of a tensor
    std::unordered_map<const void*, std::vector<Write>> m_writes;    // into a storage: a saved tensor comes back as another one
    std::vector<c10::weak_intrusive_ptr<c10::TensorImpl>> m_kept;    // an address that was seen isn't given out again
    std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> m_kept_storages;
    std::set<std::vector<std::int64_t>> m_parameter_shapes;  // and their transposes
    std::optional<std::int64_t> m_batch;                     // samples in the batch
    at::CallbackHandle m_handle = 0;
};

}  // namespace mantissa
